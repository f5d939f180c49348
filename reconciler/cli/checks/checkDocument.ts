import type { FinishedCheck } from './runChecks.ts'

const US_PER_MS = 1_000

/** The result of `check` for --json: times in milliseconds, no text with a secret. Pure. */
export function checkDocument({ service, endpoint, url, result }: FinishedCheck): object {
  const { outcome, reason, text, status, attempts, phases, verdicts } = result
  const ms = Object.entries(phases).map(([name, us]) => [name, us / US_PER_MS])
  return {
    service,
    endpoint,
    url,
    outcome,
    reason,
    text,
    status: status === 0 ? null : status,
    attempts,
    phases_ms: Object.fromEntries(ms),
    assertions: verdicts.map(({ kind, result: verdict, expected, seen }) => ({
      kind,
      pass: verdict === 'pass',
      expected,
      seen,
    })),
  }
}
