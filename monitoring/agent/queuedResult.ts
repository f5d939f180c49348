import * as z from 'zod'
import {
  type CertificateSeen,
  certificateSeenSchema,
  LATE_MS_MAX,
  MICROSECONDS_MAX,
  OBSERVED_CHARS_MAX,
  type ResultRow,
  resultDetailSchema,
  resultRowSchema,
} from '../protocol/messages.ts'
import { OUTCOMES, REASONS } from '../protocol/outcomes.ts'
import type { CheckReport } from './checkReport.ts'

/** A result of a check. */
export interface PendingResult {
  readonly series: number
  readonly generation: number
  readonly store: string
  readonly dueS: number
  readonly lateMs: number
  readonly report: CheckReport
}

/** A result in the form that is sent and spooled. No part of it is secret. */
export const queuedResultSchema = z.object({
  /** The store to which the series belongs. */
  store: z.guid(),
  row: resultRowSchema,
  detail: resultDetailSchema.nullable(),
  certificates: z.array(certificateSeenSchema),
})
export type QueuedResult = z.infer<typeof queuedResultSchema>

/**
 * `result` in the form that is sent. Texts from a target are cut to the limits of a message, because a server refuses a
 * message as a whole. Certificates without dates are left out. Pure.
 */
export function queuedResult({
  series,
  generation,
  store,
  dueS,
  lateMs,
  report,
}: PendingResult): QueuedResult {
  const { outcome, reason, status, attempts, flags } = report
  const { phases, detail, certificates } = report
  const micros = (value: number) => clamped(value, MICROSECONDS_MAX)
  const row: ResultRow = [
    ...([series, generation, dueS, clamped(lateMs, LATE_MS_MAX)] as const),
    ...([OUTCOMES[outcome], REASONS[reason], status, attempts, flags] as const),
    ...([micros(phases.total), micros(phases.dns), micros(phases.connect)] as const),
    ...([micros(phases.tls), micros(phases.wait), micros(phases.body)] as const),
  ]
  return {
    store,
    row,
    detail:
      detail === null
        ? null
        : { series, due_s: dueS, ...detail, expected: cut(detail.expected), seen: cut(detail.seen) },
    certificates: certificates.flatMap((certificate) => sentCertificate({ series, ...certificate })),
  }
}

function sentCertificate(certificate: CertificateSeen): readonly CertificateSeen[] {
  const names = { subject: cut(certificate.subject), issuer: cut(certificate.issuer) }
  const sent = certificateSeenSchema.safeParse({ ...certificate, ...names })
  return sent.success ? [sent.data] : []
}

function cut<Text extends string | null>(text: Text): Text | string {
  return text === null || text.length <= OBSERVED_CHARS_MAX
    ? text
    : `${text.slice(0, OBSERVED_CHARS_MAX - 1)}…`
}

function clamped(value: number, max: number): number {
  return Math.min(max, Math.max(0, Math.round(value)))
}
