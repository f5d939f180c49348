/** Retention of the history of an organisation (days). Gap G12. */
export interface Retention {
  /** Single results and their texts. */
  readonly resultsDays: number
  /** Hourly rollups. */
  readonly hoursDays: number
}

/** Retention of the smallest plan, for services whose organisation is unknown. */
export const RETENTION_MIN: Retention = { resultsDays: 7, hoursDays: 90 }

/** The inputs of the history other than results. */
export interface HistoryPolicy {
  /** Retention by organisation id. */
  readonly retention: ReadonlyMap<string, Retention>
  /** Maintenance windows that have not ended, or ended only a few days ago. */
  readonly maintenance: readonly {
    readonly serviceId: string
    readonly fromS: number
    readonly untilS: number
  }[]
}
