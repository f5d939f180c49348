import type { LATENCY_TYPES } from '../../api/contract/assertion.ts'

/** The parts of the final response that a check observed. */
export interface Observation {
  readonly status: number
  /** Names and values as received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Absent when not needed, and therefore not read completely. */
  readonly body?: ObservedBody
  /** Microseconds; absent for a phase that was not reached. */
  readonly latencyUs: { readonly [Type in (typeof LATENCY_TYPES)[number]]?: number }
  /** Time of name resolution over all hops (microseconds); 0 for addresses, absent when it failed. */
  readonly dnsUs?: number
}

/** A body that was read completely. */
export interface ObservedBody {
  readonly text: string
  /** Size after decoding. */
  readonly bytes: number
  /** Media type without parameters; empty when none was declared. */
  readonly mediaType: string
}
