import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import packageJson from '../../package.json' with { type: 'json' }
import { systemClock } from '../controller/clock.ts'
import type { ControllerSettings } from '../controller/config/settings.ts'
import { type Controller, openController } from '../controller/controller.ts'
import type { CycleReport } from '../controller/cycle.ts'
import { mountFace } from '../controller/face/face.ts'
import { GitError } from '../source/gitProgram.ts'
import { requireGit } from '../source/gitVersion.ts'
import { configFileOf, controllerSettings, reloadConfiguration } from './controllerConfig.ts'
import { EXIT, exitCodeOf } from './exitCode.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'
import { UsageError } from './settings.ts'

/** Keeps services as a git repository says: until it is asked to end, or for one cycle with --once. */
export async function controllerCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const { output, options } = context
  const file = configFileOf(context)
  const read = controllerSettings(context)
  if ('problems' in read) {
    output.problems(read.problems)
    return { exitCode: EXIT.manifestsInvalid, document: { problems: read.problems }, problems: read.problems }
  }
  const { settings } = read
  await requireUsableGit(context)
  if (options.check === true) {
    output.result(`${file} is valid: ${settings.sets.map(({ config }) => config.name).join(', ')}`)
    return { exitCode: EXIT.converged, document: { sets: settings.sets.map(({ config }) => config.name) } }
  }
  return options.once === true ? once(settings, context) : untilStopped(settings, context)
}

/** Before anything is opened: a git that cannot be used would otherwise show only as a repository that is away. */
async function requireUsableGit({ env }: CommandContext): Promise<void> {
  try {
    await requireGit(env)
  } catch (error) {
    if (error instanceof GitError) throw new UsageError(error.message)
    throw error
  }
}

function opened(settings: ControllerSettings, { env, output }: CommandContext): Promise<Controller> {
  return openController({
    settings,
    clock: systemClock,
    newId: randomUUID,
    version: packageJson.version,
    env,
    holder: `pharos ${settings.replica} on ${hostname()}, process ${process.pid}`,
    onEvent: (event) => output.result(JSON.stringify(event)),
    mountFace: (deps, { notifications, config, replica, apiToken }) =>
      mountFace(deps, {
        settings: notifications,
        publicUrl: config.publicUrl ?? null,
        hasApi: apiToken !== null,
        version: packageJson.version,
        replica,
        clock: systemClock,
        newId: randomUUID,
        onProblem: (message) => output.notice(message),
      }),
  })
}

async function untilStopped(settings: ControllerSettings, context: CommandContext): Promise<CommandResult> {
  const { output, interruption } = context
  const controller = await opened(settings, context)
  const sayWhere = (): void => {
    if (controller.url() !== null) output.notice(`listening on ${controller.url()}`)
  }
  let reloading = Promise.resolve()
  try {
    sayWhere()
    interruption.onStop(() => controller.stop())
    interruption.onReload(() => {
      reloading = reloading.then(async () => {
        const before = controller.url()
        await reloadConfiguration(controller, settings.replica, context)
        if (controller.url() !== before) sayWhere()
      })
    })
    await controller.run()
    await reloading
    return { exitCode: interruption.exitCode() ?? EXIT.converged, document: { status: controller.status() } }
  } finally {
    await controller.close()
  }
}

async function once(settings: ControllerSettings, context: CommandContext): Promise<CommandResult> {
  // Nobody would ask a program that ends at once.
  const controller = await opened({ ...settings, listen: null }, context)
  try {
    context.interruption.onStop(() => controller.stop())
    const reports = await controller.runOnce()
    return { exitCode: worst(reports), document: { status: controller.status() } }
  } finally {
    await controller.close()
  }
}

/** The most telling exit code of all sets. */
function worst(reports: readonly CycleReport[]): number {
  const codes = reports.map(({ exitCode }) => exitCode)
  const stopped = codes.find((code) => code >= EXIT.interrupted)
  if (stopped !== undefined) return stopped
  if (codes.includes(EXIT.stateHeld)) return EXIT.stateHeld
  return exitCodeOf({
    couldNotRun: codes.includes(EXIT.couldNotRun),
    manifestsInvalid: codes.includes(EXIT.manifestsInvalid),
    decisionNeeded: codes.includes(EXIT.decisionNeeded),
    approvalNeeded: codes.includes(EXIT.approvalNeeded),
    partial: codes.includes(EXIT.partial),
  })
}
