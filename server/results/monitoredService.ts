/** A service as the results thread knows it. */
export interface MonitoredService {
  readonly id: string
  readonly orgId: string
  /** Generation of the last published definition; agents send it with each result. */
  readonly generation: number
  /** `null` while it is checked (seconds since the epoch). */
  readonly pausedAtS: number | null
  readonly intervalS: number
  /** Up time after which its automatic incident is resolved (seconds); `null` without automatic incidents. */
  readonly steadyS: number | null
  /** Codes of the regions that check it. */
  readonly regions: readonly string[]
  readonly endpoints: readonly {
    readonly number: number
    readonly id: string
    readonly timeoutMs: number
  }[]
}

/** A change of the set of monitored services. */
export interface MonitoredChange {
  readonly services: readonly MonitoredService[]
  /** Ids of deleted services. */
  readonly ended: readonly string[]
  /** Whether `services` is the complete set: every other service has ended. */
  readonly isWhole: boolean
}
