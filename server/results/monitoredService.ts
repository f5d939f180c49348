/** A service as far as its results are concerned. */
export interface MonitoredService {
  readonly id: string
  readonly orgId: string
  /** Of its last published definition: what agents send with their results. */
  readonly generation: number
  readonly isPaused: boolean
  readonly intervalS: number
  /** Those in which it is checked. */
  readonly regions: readonly string[]
  readonly endpoints: readonly {
    readonly number: number
    readonly id: string
    readonly timeoutMs: number
  }[]
}

/** What changed of what is monitored. */
export interface Told {
  readonly services: readonly MonitoredService[]
  /** Ids of deleted services. */
  readonly ended: readonly string[]
  /** Whether `services` are all there are: every other one is gone. */
  readonly isWhole: boolean
}
