import { type Outcome, REASONS, type Reason } from '../../protocol/outcomes.ts'

/** The first number of the reasons that say nothing about the endpoint: the machine that checked it is at fault. */
const FIRST_OF_MACHINE = REASONS.regex_too_slow

/**
 * The outcome of a check that ended for `reason`, where `failed` has the kinds of false assertions. A response that is
 * only slow is degraded. Pure.
 */
export function outcomeOf(reason: Reason, failed: readonly string[] = []): Outcome {
  if (reason === 'none') return 'up'
  if (reason === 'one_address') return 'degraded'
  if (REASONS[reason] >= FIRST_OF_MACHINE) return 'unknown'
  const isSlowOnly = reason === 'assertion_latency' || reason === 'assertion_dns'
  return isSlowOnly && failed.every((kind) => kind === 'Latency' || kind === 'DnsResoltion')
    ? 'degraded'
    : 'down'
}

/** The error that ends an attempt, with the reason and a message for people without secrets. */
export class CheckFault extends Error {
  override readonly name = 'CheckFault'
  readonly reason: Reason

  constructor(reason: Reason, text: string) {
    super(text)
    this.reason = reason
  }
}
