import { setTimeout as sleep } from 'node:timers/promises'
import { evaluateAssertions, type Verdict, verdictsWithoutResponse } from '../assertions/evaluate.ts'
import type { Observation } from '../assertions/observation.ts'
import { ASSERTION_REASONS, type Outcome, type Reason } from '../protocol/outcomes.ts'
import type { ResponseFacts } from '../protocol/responseFacts.ts'
import { Attempt } from './attempt.ts'
import type { CheckTools } from './checkTools.ts'
import type { SeenCertificate } from './network/certificate.ts'
import type { Phases } from './outcome/attemptClock.ts'
import { CheckFault, outcomeOf } from './outcome/reason.ts'
import type { PreparedCheck } from './prepareCheck.ts'
import { shownCertificate, shownText } from './privateTexts.ts'

/** The result of a check. None of its texts contains a secret of the request. */
export interface CheckResult {
  readonly outcome: Outcome
  readonly reason: Reason
  /** The reason for people; null when the endpoint is up. */
  readonly text: string | null
  /** Status of the last response; 0 when there was none. */
  readonly status: number
  /** 2 when a second attempt was made after a failure. */
  readonly attempts: 1 | 2
  /** Phases of the last attempt. */
  readonly phases: Phases
  readonly facts: ResponseFacts
  /** One for each assertion, in order. */
  readonly verdicts: readonly Verdict[]
  readonly certificates: readonly SeenCertificate[]
  /** The first of two attempts. */
  readonly first?: { readonly reason: Reason; readonly totalUs: number }
}

/** The settings of one check. */
export interface CheckRun {
  /** The number of the slot, which selects among several addresses of a name. */
  readonly attemptIndex: number
  /**
   * Called after the first attempt has failed. Returns the time until a second one (milliseconds), or `undefined` for
   * none.
   */
  readonly confirmAfterMs: () => number | undefined
  /** Ends the check, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

type AttemptResult = Omit<CheckResult, 'first'>

type Judgement = Pick<AttemptResult, 'outcome' | 'reason' | 'text' | 'verdicts'>

/** A finished attempt, and the first address that it dialled. */
interface Attempted {
  readonly result: AttemptResult
  readonly address: string | undefined
}

/**
 * Runs `check`, and a second time after a failure. Rejects only when `run.signal` ends it, never because of the network
 * or a server.
 */
export async function runCheck(check: PreparedCheck, tools: CheckTools, run: CheckRun): Promise<CheckResult> {
  const { result: first, address: firstAddress } = await attempt(check, tools, run)
  const afterMs = first.outcome === 'down' ? run.confirmAfterMs() : undefined
  if (afterMs === undefined) return first
  await sleep(afterMs, undefined, { signal: run.signal })
  const { result: second, address } = await attempt(check, tools, {
    ...run,
    attemptIndex: run.attemptIndex + 1,
  })
  const both = { attempts: 2, first: { reason: first.reason, totalUs: first.phases.total } } as const
  if (second.outcome !== 'up' || address === firstAddress) return { ...second, ...both }
  // A name with only one working address must not look healthy, because clients that get the other one see a failure.
  const text = shownText(
    `${firstAddress} failed (${first.text ?? first.reason}), ${address} responded`,
    check.quoting,
  )
  return { ...second, ...both, outcome: 'degraded', reason: 'one_address', text }
}

async function attempt(
  check: PreparedCheck,
  tools: CheckTools,
  { attemptIndex: turn, signal }: CheckRun,
): Promise<Attempted> {
  const running = new Attempt(check, tools, turn, signal)
  // Names each field, because spreading would add a twentieth to the CPU time of a check.
  const ended = ({ outcome, reason, text, verdicts }: Judgement): Attempted => {
    const { phases, status, facts, address } = running
    const { request, quoting } = check
    const certificates = running.certificates.map((seen) =>
      shownCertificate(seen, request.url.hostname, quoting),
    )
    return {
      result: { outcome, reason, text, status, attempts: 1, phases, facts, verdicts, certificates },
      address,
    }
  }
  try {
    const seen = await running.observe()
    return ended(await judge(check, seen, tools, running.deadlineMs))
  } catch (error) {
    if (!(error instanceof CheckFault)) throw error
    const { reason, message } = error
    const text = shownText(message, check.quoting)
    return ended({
      outcome: outcomeOf(reason),
      reason,
      text,
      verdicts: verdictsWithoutResponse(check.assertions, check.quoting),
    })
  } finally {
    running.close()
  }
}

async function judge(
  check: PreparedCheck,
  seen: Observation,
  { matcher, regexBudget }: CheckTools,
  deadlineMs: number,
): Promise<Judgement> {
  const { assertions, needs, quoting, org, series } = check
  const verdicts = await evaluateAssertions(assertions, seen, {
    quoting,
    find: async (regex, text) => {
      switch (regexBudget.placeOfMatch(regex, text, org)) {
        case 'here':
          return regex.isIn(text)
        case 'thread':
          return matcher.match(regex, text, { org, series, deadlineMs })
        case 'nowhere':
          return undefined
      }
    },
  })
  // Gap G43: without an assertion on the status, one below 400 is expected.
  if (needs.impliedStatus && seen.status >= 400) {
    return {
      outcome: 'down',
      reason: 'assertion_status',
      text: `status ${seen.status}, expected < 400`,
      verdicts,
    }
  }
  const failed = verdicts.filter(({ result }) => result === 'fail')
  const first = failed[0] ?? verdicts.find(({ result }) => result === 'unknown')
  if (first === undefined) return { outcome: 'up', reason: 'none', text: null, verdicts }
  const reason = first.result === 'unknown' ? 'regex_too_slow' : ASSERTION_REASONS[first.kind]
  const outcome = outcomeOf(
    reason,
    failed.map(({ kind }) => kind),
  )
  return { outcome, reason, text: shownText(first.text, quoting), verdicts }
}
