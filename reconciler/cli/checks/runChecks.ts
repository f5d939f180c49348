import { openCheckTools } from '../../../monitoring/check/checkTools.ts'
import { shownUrl } from '../../../monitoring/check/http/redirect.ts'
import { type PreparedCheck, prepareCheck } from '../../../monitoring/check/prepareCheck.ts'
import { type CheckResult, runCheck } from '../../../monitoring/check/runCheck.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { DeclaredService } from '../../manifest/compile/declaredService.ts'
import { HostSlots } from './hostSlots.ts'

/** Maximum of parallel checks, in total and for one host, whose load would distort the measurement. */
const RUNNING_MAX = 64
const RUNNING_OF_HOST_MAX = 8
/** Delay before the confirmation of a failure: minimum, and random addition (milliseconds). */
const CONFIRM_MS_MIN = 1_000
const CONFIRM_MS_SPREAD = 1_000
const MS_PER_SECOND = 1_000

/** An endpoint of a manifest, ready to be checked. */
export interface PlannedCheck {
  /** metadata.name of its manifest. */
  readonly service: string
  /** Its name, or else its URL. */
  readonly endpoint: string
  /** Without query and fragment, which may hold secrets. */
  readonly url: string
  readonly intervalMs: number
  readonly prepared: PreparedCheck
}

/** A check and its result. */
export interface FinishedCheck extends PlannedCheck {
  readonly result: CheckResult
}

/** The checks of `services`, each endpoint once for each of `repeat` rounds, none longer than `timeoutMsMax`. Pure. */
export function plannedChecks(
  services: readonly DeclaredService[],
  repeat: number,
  timeoutMsMax: number,
): readonly PlannedCheck[] {
  const once = services.flatMap(({ key, request }) =>
    request.endpoints.map((endpoint, index): PlannedCheck => {
      const prepared = prepareCheck(endpoint, { org: 'own', series: `${key} ${index}` })
      const url = shownUrl(prepared.request.url)
      const timeoutMs = Math.min(prepared.timeoutMs, timeoutMsMax)
      return {
        service: key,
        endpoint: endpoint.name == null || endpoint.name === '' ? url : endpoint.name,
        url,
        intervalMs: request.interval_secs * MS_PER_SECOND,
        prepared: { ...prepared, timeoutMs },
      }
    }),
  )
  return Array.from({ length: repeat }, () => once).flat()
}

interface RunOptions {
  readonly allowedRanges: readonly string[]
  readonly onFinished: (finished: number) => void
  readonly signal: AbortSignal
}

/**
 * Runs `checks` from this machine and resolves with all of them, in their order. Rejects with the reason of `signal`.
 */
export async function runChecks(
  checks: readonly PlannedCheck[],
  { allowedRanges, onFinished, signal }: RunOptions,
): Promise<readonly FinishedCheck[]> {
  const tools = openCheckTools({ allowedRanges, userAgent: `pharos/${packageJson.version}` })
  const slots = new HostSlots(RUNNING_MAX, RUNNING_OF_HOST_MAX)
  let finished = 0
  const stopped = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const all = checks.map((check) =>
    slots.run(check.prepared.request.url.host, async () => {
      signal.throwIfAborted()
      const timing = { attemptIndex: 0, confirmAfterMs: () => confirmAfterMs(check), signal }
      const result = await runCheck(check.prepared, tools, timing)
      finished += 1
      onFinished(finished)
      return { ...check, result }
    }),
  )
  try {
    return await Promise.race([Promise.all(all), stopped])
  } finally {
    await Promise.allSettled(all)
    await tools.close()
  }
}

function confirmAfterMs({ intervalMs }: PlannedCheck): number | undefined {
  const afterMs = CONFIRM_MS_MIN + Math.random() * CONFIRM_MS_SPREAD
  return afterMs < intervalMs ? afterMs : undefined
}
