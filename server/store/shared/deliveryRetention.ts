const DAY_MS = 24 * 60 * 60 * 1_000

/** How long ended deliveries are kept (milliseconds). Gap G9. */
export const SENT_KEPT_MS = 7 * DAY_MS
export const FAILED_KEPT_MS = 30 * DAY_MS
