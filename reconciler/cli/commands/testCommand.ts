import { resolve } from 'node:path'
import { isAddressRange } from '../../../monitoring/check/network/addressRules.ts'
import type { DeclaredService } from '../../manifest/compile/declaredService.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { counted } from '../../text/counts.ts'
import { checkDocument } from '../checks/checkDocument.ts'
import { checkLines } from '../checks/checkLines.ts'
import { checksJunit, problemsJunit } from '../checks/junit.ts'
import { type FinishedCheck, plannedChecks, runChecks } from '../checks/runChecks.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { signalOf } from '../session/interruption.ts'
import { loadManifests, missingPath, noticeEmpty } from '../session/manifests.ts'
import { selectionOf } from '../session/selection.ts'
import { type CommandOptions, durationMs } from '../session/settings.ts'

/** Maximum of checks in one run. */
const CHECKS_MAX = 10_000

/** Runs the checks of manifests once from this machine, with the library that the server and its agents use. */
export async function testCommand(paths: readonly string[], context: CommandContext): Promise<CommandResult> {
  const { output, options } = context
  const [repeat, timeoutMs, allowedRanges] = [repeatOf(options), timeoutOf(options), rangesOf(options)]
  const { services, problems, warnings } = await loadAll(paths.length === 0 ? ['.'] : paths, context)
  output.problems([...problems, ...warnings])
  const found = { problems: problems.map(problemDocument), warnings: warnings.map(problemDocument) }
  if (problems.length > 0) {
    // A secret missing on this machine does not make the manifest invalid.
    const isInvalid = problems.some(({ code }) => code !== 'E_SECRET')
    const exitCode = isInvalid ? EXIT.manifestsInvalid : EXIT.couldNotRun
    return { exitCode, document: { ...found, checks: [] }, junit: problemsJunit(problems) }
  }
  const planned = plannedChecks(chosen(services, options), repeat, timeoutMs)
  if (planned.length > CHECKS_MAX) {
    throw new UsageError(
      `${planned.length} checks exceed the maximum of ${CHECKS_MAX}: select fewer manifests`,
    )
  }
  output.result(
    `${counted(planned.length, 'check')} from this machine, not from the regions of the manifests`,
  )
  const checks = await runChecks(planned, {
    allowedRanges,
    onFinished: (finished) => output.progress(`${finished} of ${counted(planned.length, 'check')}`),
    signal: signalOf(context.interruption, 'the checks were not finished'),
  })
  output.passing('')
  for (const check of checks) for (const line of checkLines(check, output.paint)) output.result(line)
  conclude(checks, context)
  return {
    exitCode: exitCodeFor(checks),
    document: { ...found, checks: checks.map(checkDocument) },
    junit: checksJunit(checks),
  }
}

/** Loads the manifests at `paths`, without duplicates. */
async function loadAll(paths: readonly string[], context: CommandContext) {
  const loaded = []
  for (const path of new Map(paths.map((path) => [resolve(path), path])).values()) {
    const { exists, set } = await loadManifests(path, context, 'required')
    if (!exists) throw missingPath(path)
    noticeEmpty(set, path, context.output)
    loaded.push(set)
  }
  const services = loaded.flatMap((set) => set.services)
  return {
    services: [...new Map(services.map((one) => [`${resolve(one.file)} ${one.key}`, one])).values()],
    problems: loaded.flatMap((set) => set.problems),
    warnings: loaded.flatMap((set) => set.warnings),
  }
}

function chosen(services: readonly DeclaredService[], options: CommandOptions): readonly DeclaredService[] {
  const isSelected = selectionOf(options, { services, frozenKeys: [] }, [])
  return isSelected === undefined ? services : services.filter(({ key }) => isSelected(key))
}

function repeatOf({ repeat = '1' }: CommandOptions): number {
  if (!/^[1-9]\d{0,3}$/.test(repeat)) throw new UsageError('--repeat must be a count from 1 to 9999')
  return Number(repeat)
}

function timeoutOf({ timeout }: CommandOptions): number {
  if (timeout === undefined) return Number.POSITIVE_INFINITY
  const ms = durationMs(timeout, '--timeout')
  if (ms < 1) throw new UsageError('--timeout must be longer than zero')
  return ms
}

function rangesOf({ allowRanges = '' }: CommandOptions): readonly string[] {
  const ranges = allowRanges.split(',').flatMap((range) => range.trim() || [])
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong !== undefined)
    throw new UsageError(`--allow-ranges: ${wrong} is not an address range such as 10.0.0.0/8`)
  return ranges
}

/** Prints how many checks passed, and a hint when private addresses were refused. */
function conclude(checks: readonly FinishedCheck[], { output }: CommandContext): void {
  const passed = checks.filter(({ result }) => result.outcome === 'up').length
  const text = `${passed} of ${counted(checks.length, 'check')} passed`
  output.result(passed === checks.length ? output.paint.green(text) : output.paint.red(text))
  if (checks.some(({ result }) => result.reason === 'address_forbidden')) {
    output.notice('private addresses are refused as on the server: --allow-ranges 10.0.0.0/8 allows a range')
  }
}

/** If the machine could run no check, the result is not a failure of the endpoints. */
function exitCodeFor(checks: readonly FinishedCheck[]): number {
  const failed = checks.filter(({ result }) => result.outcome !== 'up')
  if (failed.length === 0) return EXIT.converged
  return failed.every(({ result }) => result.reason === 'agent_local') ? EXIT.couldNotRun : EXIT.checksFailed
}
