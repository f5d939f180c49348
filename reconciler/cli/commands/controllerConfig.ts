import { readFileSync } from 'node:fs'
import { readConfig } from '../../controller/config/readConfig.ts'
import { ConfigError, type ControllerSettings, settingsOf } from '../../controller/config/settings.ts'
import type { ManifestProblem } from '../../manifest/manifestProblem.ts'
import { UsageError } from '../../run/failure.ts'
import type { CommandContext } from '../session/context.ts'

/** Name of the configuration when none is given. */
const CONFIG_FILE = 'pharos-controller.yaml'

/** The file that the command line names. */
export function configFileOf({ options }: CommandContext): string {
  return options.config ?? CONFIG_FILE
}

/** The configuration in that file, as it holds on this machine, or what is wrong with it. Throws UsageError. */
export function controllerSettings(
  context: CommandContext,
): { readonly settings: ControllerSettings } | { readonly problems: readonly ManifestProblem[] } {
  const file = configFileOf(context)
  const read = readConfig(file, contentOf(file))
  if ('problems' in read) return read
  try {
    return { settings: settingsOf(read.config, context.env) }
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
