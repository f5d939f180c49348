/** An order to the server of the agents benchmark. */
export type ServerOrder =
  | { readonly kind: 'start' | 'cpu' | 'stop' }
  | { readonly kind: 'token'; readonly region: string }
  | ({ readonly kind: 'create'; readonly intervalS?: number } & Definition)
  | ({ readonly kind: 'replace'; readonly id: string } & Definition)
  | HostileOrder

/** Creates a service of another organisation, whose checks wait for whole bodies as long as the API allows. */
export interface HostileOrder {
  readonly kind: 'create hostile'
  readonly urls: readonly string[]
  readonly region: string
}

/** A service with this many endpoints below `url`. */
interface Definition {
  readonly url: string
  readonly endpoints: number
  readonly regions: readonly string[]
}

/** The reply, whose fields depend on the order. */
export interface ServerReply {
  readonly agentUrl?: string
  readonly token?: string
  /** CPU of all threads since the start (microseconds). */
  readonly cpuUs?: number
  readonly id?: string
  /** Times before the request and after its response (milliseconds since the epoch). */
  readonly startedMs?: number
  readonly endedMs?: number
}
