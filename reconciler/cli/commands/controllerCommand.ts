import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import packageJson from '../../../package.json' with { type: 'json' }
import { readConfig } from '../../controller/config/readConfig.ts'
import { type ControllerSettings, settingsOf } from '../../controller/config/settings.ts'
import { type Controller, openController } from '../../controller/controller.ts'
import { systemClock } from '../../controller/schedule/clock.ts'
import type { PreventedCycle } from '../../controller/setManager.ts'
import { foldersOf, tryFiles, tryFolder } from '../../controller/set/setFolders.ts'
import { GitError } from '../../git/gitProgram.ts'
import { requireGit } from '../../git/gitVersion.ts'
import { waitText } from '../../run/apiWait.ts'
import { codeOf } from '../../../api/runtime/errorCode.ts'
import { combinedExitCode, EXIT } from '../../run/exitCode.ts'
import { ExpectedFailure, type Failure, UsageError } from '../../run/failure.ts'
import { failureOf } from '../../run/failureOf.ts'
import type { Command } from '../session/commandEntry.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { closingAfter } from '../session/session.ts'
import { lockTimeoutMs } from '../session/settings.ts'

/** Default of --config. */
const CONFIG_FILE = 'pharos-controller.yaml'
/**
 * Growth of the heap before a garbage collection (percent). With V8's default the garbage of each cycle takes half as much
 * memory again at 10,000 services, and saves a tenth of a second of CPU.
 */
const HEAP_GROWTH_PERCENT = 30

/** Applies a git repository until it is asked to stop, or for one cycle with --once. */
export const controllerCommand: Command = async (_args, context) => {
  const { output, options } = context
  const file = options.config ?? CONFIG_FILE
  const read = readConfig(file, contentOf(file))
  if ('problems' in read) {
    output.problems(read.problems)
    return { exitCode: EXIT.manifestsInvalid, document: { problems: read.problems }, problems: read.problems }
  }
  const settings = settingsOf(read.config, context.env)
  await requireUsableGit(context)
  if (options.check === true) {
    for (const folder of new Set(settings.sets.flatMap(foldersOf))) tryFolder(folder)
    for (const set of settings.sets) tryFiles(set)
    output.result(`${file} is valid: ${settings.sets.map(({ config }) => config.name).join(', ')}`)
    return { exitCode: EXIT.converged, document: { sets: settings.sets.map(({ config }) => config.name) } }
  }
  return options.once === true ? once(settings, context) : untilStopped(settings, context)
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(`the configuration ${file} cannot be read (${codeOf(error)}): check --config`)
  }
}

/** Checked first, because an unusable git would otherwise only look like an unreachable repository. */
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
    onWait: (set, report) => output.notice(`${set}: ${waitText(report)}`),
    onProblem: (message) => output.notice(message),
  })
}

async function untilStopped(settings: ControllerSettings, context: CommandContext): Promise<CommandResult> {
  const { output, interruption } = context
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  return closingAfter(await opened(settings, context), async (controller) => {
    if (controller.url !== null) output.notice(`listening on ${controller.url}`)
    interruption.onStop(() => controller.stop())
    const isUnread = stopWhenUnread(controller, output)
    await controller.run()
    const exitCode = interruption.exitCode() ?? (isUnread() ? EXIT.couldNotRun : EXIT.converged)
    return { exitCode, document: { status: controller.status() } }
  })
}

/** Stops when stdout has no reader: a supervisor such as systemd starts the controller again with a working output. */
function stopWhenUnread(controller: Controller, output: CommandContext['output']): () => boolean {
  let isUnread = false
  output.onReaderGone(() => {
    if (isUnread) return
    isUnread = true
    output.error('stdout has no reader: the controller stops')
    controller.stop()
  })
  return () => isUnread
}

/** Some sets could not run. */
class SetsPrevented extends ExpectedFailure {
  override readonly name = 'SetsPrevented'
  readonly code: Failure['code']
  override readonly exitCode: number

  /** `codes` are the exit codes of the other sets. */
  constructor(prevented: readonly PreventedCycle[], codes: readonly number[]) {
    const failures = prevented.map(({ set, error }) => ({ set, ...failureOf(error) }))
    super(failures.map(({ set, message }) => `the set ${set} did not run: ${message}`).join('; '))
    this.code = failures[0]?.code ?? 'E_INTERNAL'
    this.exitCode = combinedExitCode([...codes, ...failures.map(({ exitCode }) => exitCode)])
  }
}

async function once(settings: ControllerSettings, context: CommandContext): Promise<CommandResult> {
  const waitMs = lockTimeoutMs(context.options)
  // A single cycle serves no requests.
  return closingAfter(await opened({ ...settings, listen: null }, context), async (controller) => {
    const { interruption } = context
    interruption.onStop(() => controller.stop())
    const { reports, prevented } = await controller.runOnce(waitMs)
    const codes = reports.map(({ exitCode }) => exitCode)
    const document = { status: controller.status() }
    if (prevented.length === 0) return { exitCode: combinedExitCode(codes), document }
    // It may have been asked to stop while it opened a state or waited for a lease.
    const stoppedWith = interruption.exitCode()
    if (stoppedWith === undefined) throw new SetsPrevented(prevented, codes)
    return { exitCode: stoppedWith, document }
  })
}
