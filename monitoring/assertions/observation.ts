import type { LATENCY_TYPES } from '../../api/contract/assertion.ts'

/** What a check saw of the final response. */
export interface Observation {
  readonly status: number
  /** Names and values as they came, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Absent where it was not needed, and therefore not read whole. */
  readonly body?: ObservedBody
  /** Microseconds; absent where the phase never came. */
  readonly latencyUs: { readonly [Type in (typeof LATENCY_TYPES)[number]]?: number }
  /** What resolving names took over all hops (microseconds); 0 for addresses, absent where it failed. */
  readonly dnsUs?: number
}

/** A body that was read whole. */
export interface ObservedBody {
  readonly text: string
  /** Length after decoding. */
  readonly bytes: number
  /** Media type without parameters; empty when none was declared. */
  readonly mediaType: string
}
