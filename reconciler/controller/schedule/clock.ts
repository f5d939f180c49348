import { systemTiming, type Timing } from '../../../api/client/limiter.ts'

/**
 * Time and randomness of the controller. `nowMs` is monotonic and measures intervals; `wallMs` (milliseconds since the
 * epoch) is used for windows, suspensions and timestamps.
 */
export interface ControllerClock extends Timing {
  readonly wallMs: () => number
}

/** The clock of the machine. */
export const systemClock: ControllerClock = { ...systemTiming, wallMs: Date.now }
