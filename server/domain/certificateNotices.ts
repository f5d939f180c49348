const DAY_S = 24 * 60 * 60
/** Times before the expiry of a certificate at which a notice is sent (seconds); 0 is the expiry itself. */
const THRESHOLDS_S = [30, 14, 7, 3, 1, 0].map((days) => days * DAY_S)
/** Certificates with a shorter total validity are renewed by programs, and late (seconds). */
const SHORT_LIFE_S = 20 * DAY_S
/** Remaining fractions of the validity of such a certificate at which a notice is sent. */
const SHORT_LIFE_PARTS = [1 / 3, 1 / 10, 0]

/** The validity of a certificate (seconds since the epoch). */
export interface CertificateTimes {
  readonly notBeforeS: number
  readonly notAfterS: number
  /** The earliest expiry in the chain that was sent, including the certificate's own. */
  readonly chainNotAfterS: number
}

/** A certificate that expires soon, or has expired. Body of the transition `certificate.expiring`. */
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
  /** The earliest expiry in the chain (seconds since the epoch). */
  readonly not_after_s: number
  readonly days_left: number
  /** The threshold that was reached (seconds before the expiry); 0 once it has expired. */
  readonly threshold_s: number
  readonly endpoint_ids: readonly string[]
}

/** The maximum time before the expiry at which a notice is sent for any certificate (seconds). */
export const NOTICE_S_MAX = Math.max(...THRESHOLDS_S)

/**
 * The last threshold that a certificate has reached at `nowS` (seconds before the expiry); `undefined` before the
 * first. Pure.
 */
export function reachedThresholdS(times: CertificateTimes, nowS: number): number | undefined {
  const lifeS = times.notAfterS - times.notBeforeS
  const thresholds =
    lifeS < SHORT_LIFE_S ? SHORT_LIFE_PARTS.map((part) => Math.floor(lifeS * part)) : THRESHOLDS_S
  const leftS = times.chainNotAfterS - nowS
  return thresholds.findLast((threshold) => leftS <= threshold)
}

/** Whole days from `nowS` until `untilS`; negative once it has passed. Pure. */
export function daysLeft(untilS: number, nowS: number): number {
  return Math.floor((untilS - nowS) / DAY_S)
}
