import type { FinishedCheck } from './runChecks.ts'

const US_PER_MS = 1_000

/** The result of `check` for --json: times in milliseconds, no text with a secret. Pure. */
export function checkDocument({ service, endpoint, url, result }: FinishedCheck): object {
  const { outcome, reason, text, status, attempts, phases, verdicts } = result
  const { dns, connect, tls, wait, body, total } = phases
  const ms = (us: number): number => us / US_PER_MS
  return {
    service,
    endpoint,
    url,
    outcome,
    reason,
    text,
    status: status === 0 ? null : status,
    attempts,
    phases_ms: {
      dns: ms(dns),
      connect: ms(connect),
      tls: ms(tls),
      wait: ms(wait),
      body: ms(body),
      total: ms(total),
    },
    assertions: verdicts.map(({ kind, result: verdict, expected, seen }) => ({
      kind,
      pass: verdict === 'pass',
      expected,
      seen,
    })),
  }
}
