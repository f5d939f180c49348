import { readFileSync } from 'node:fs'
import { readConfig } from '../controller/config/readConfig.ts'
import { ConfigError, type ControllerSettings, settingsOf } from '../controller/config/settings.ts'
import type { Controller } from '../controller/controller.ts'
import type { SetsChange } from '../controller/setManager.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import type { CommandContext } from './runCommand.ts'
import { UsageError } from './settings.ts'

/** Name of the configuration when none is given. */
const CONFIG_FILE = 'pharos-controller.yaml'
/** Most problems of a configuration that one event names. */
const PROBLEMS_MAX = 10

/** The file that the command line names. */
export function configFileOf({ options }: CommandContext): string {
  return options.config ?? CONFIG_FILE
}

/** The configuration in that file, as it holds on this machine, or what is wrong with it. Throws UsageError. */
export function controllerSettings(
  context: CommandContext,
  env: CommandContext['env'] = context.env,
): { readonly settings: ControllerSettings } | { readonly problems: readonly ManifestProblem[] } {
  const file = configFileOf(context)
  const read = readConfig(file, contentOf(file))
  if ('problems' in read) return read
  try {
    return { settings: settingsOf(read.config, env) }
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message)
    throw error
  }
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(`the configuration ${file} cannot be read (${reason}): name it with --config`)
  }
}

/**
 * Has `controller` go on with the configuration as it is now, and tells what that came to. One that cannot be used
 * changes nothing. `replica` stays: leases and copies of repositories are under its name. Never rejects.
 */
export async function reloadConfiguration(
  controller: Controller,
  replica: string,
  context: CommandContext,
): Promise<void> {
  try {
    const read = controllerSettings(context, { ...context.env, PHAROS_REPLICA: replica })
    if ('problems' in read) {
      // Each line of stdout is an event.
      for (const problem of read.problems) context.output.notice(formatProblem(problem))
      refuse(controller, read.problems.slice(0, PROBLEMS_MAX).map(formatProblem).join('; '))
      return
    }
    const message = `the configuration was read again: ${changeText(await controller.reload(read.settings))}`
    controller.tell({ type: 'ConfigurationReloaded', severity: 'info', message })
  } catch (error) {
    refuse(controller, error instanceof Error ? error.message : String(error))
  }
}

function refuse(controller: Controller, reason: string): void {
  const message = `the configuration cannot be used, so the old one stays in force: ${reason}`
  controller.tell({ type: 'ConfigurationRefused', severity: 'error', message })
}

function changeText(change: SetsChange): string {
  const parts = [
    ['new', change.added],
    ['changed', change.changed],
    ['no longer kept', change.removed],
  ] as const
  const said = parts.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what}: ${names.join(', ')}`]))
  return said.length === 0 ? 'the sets are as before' : said.join('; ')
}
