import type { Registry } from 'prom-client'
import type { Route } from '../controller/http/route.ts'
import type { ControllerEvent, ControllerStatus } from '../controller/status/status.ts'

/** Takes every event, in order, and returns at once: a slow receiver must not hold up a run. */
export type EventSink = (event: ControllerEvent) => void

/** What people see of the controller is made from this, and from nothing else of it. */
export interface FaceDeps {
  /** Everything there is to show, as it is now: made anew at each call. */
  readonly status: () => ControllerStatus
  /** Wall clock (milliseconds since the epoch). */
  readonly nowMs: () => number
  /** Where metrics are put. */
  readonly registry: Registry
}

/** What `face/` gives back: routes for the listener, and an ear for events. */
export interface Face {
  readonly routes: readonly Route[]
  readonly onEvent: EventSink
  /** Sends what still waits, for a few seconds at most. */
  readonly close: () => Promise<void>
}
