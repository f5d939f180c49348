import { systemTiming, type Timing } from '../../../api/client/limiter.ts'

/**
 * Time and randomness of the controller. `nowMs` is monotonic and measures every interval; `wallMs` is what
 * the wall shows (milliseconds since the epoch), and decides over windows and suspensions only.
 */
export interface ControllerClock extends Timing {
  readonly wallMs: () => number
}

/** The clock of the machine. */
export const systemClock: ControllerClock = { ...systemTiming, wallMs: Date.now }
