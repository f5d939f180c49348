const DAY_S = 24 * 60 * 60
/** Time before its end at which a certificate is worth a notice (seconds); 0: it has ended. */
const THRESHOLDS_S = [30, 14, 7, 3, 1, 0].map((days) => days * DAY_S)
/** A certificate that is valid for less than this in all is renewed by a program, and late (seconds). */
const SHORT_LIFE_S = 20 * DAY_S
/** Parts of its life that are left of such a certificate when it is worth a notice. */
const SHORT_LIFE_PARTS = [1 / 3, 1 / 10, 0]

/** When a certificate holds (seconds since the epoch). */
export interface CertificateTimes {
  readonly notBeforeS: number
  readonly notAfterS: number
  /** The earliest end of what was sent with it, its own included. */
  readonly chainNotAfterS: number
}

/** A certificate that ends soon, or has ended. Body of the transition `certificate.expiring`. */
export interface CertificateNotice {
  readonly org_id: string
  readonly host: string
  readonly port: number
  readonly fingerprint: string
  readonly subject: string
  readonly issuer: string
  /** Absent in notices of earlier releases, like `not_before_s`. */
  readonly serial?: string
  readonly not_before_s?: number
  /** The earliest end of the chain (seconds since the epoch). */
  readonly not_after_s: number
  readonly days_left: number
  /** Time before its end that was reached (seconds); 0 once it has ended. */
  readonly threshold_s: number
  readonly endpoint_ids: readonly string[]
}

/** The longest time before its end at which any certificate is worth a notice (seconds). */
export const NOTICE_S_MAX = Math.max(...THRESHOLDS_S)

/**
 * The time before the end of a certificate that is worth a notice and was reached last at `nowS`, in seconds; `undefined`
 * before the first. Pure.
 */
export function reachedThresholdS(times: CertificateTimes, nowS: number): number | undefined {
  const lifeS = times.notAfterS - times.notBeforeS
  const thresholds =
    lifeS < SHORT_LIFE_S ? SHORT_LIFE_PARTS.map((part) => Math.floor(lifeS * part)) : THRESHOLDS_S
  const leftS = times.chainNotAfterS - nowS
  return thresholds.findLast((threshold) => leftS <= threshold)
}

/** Whole days until `untilS` at `nowS`; negative once it has passed. Pure. */
export function daysLeft(untilS: number, nowS: number): number {
  return Math.floor((untilS - nowS) / DAY_S)
}
