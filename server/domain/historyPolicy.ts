/** How long the history of an organisation is stored (days). Gap G12. */
export interface Retention {
  /** Single results and their texts. */
  readonly resultsDays: number
  /** Hourly rollups. */
  readonly hoursDays: number
}

/** Retention of the least plan: that of services whose organisation is not known. */
export const RETENTION_MIN: Retention = { resultsDays: 7, hoursDays: 90 }

/** What the history depends on besides results. */
export interface HistoryPolicy {
  /** By the id of the organisation. */
  readonly retention: ReadonlyMap<string, Retention>
  /** Maintenance windows that have not ended, or ended a few days ago. */
  readonly maintenance: readonly {
    readonly serviceId: string
    readonly fromS: number
    readonly untilS: number
  }[]
}
