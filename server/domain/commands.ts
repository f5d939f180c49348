/** The types of commands. Contract: Events, rule 3. */
export const COMMAND_TYPES = ['StartServiceMonitoring', 'EndServiceMonitoring'] as const
export type CommandType = (typeof COMMAND_TYPES)[number]

/** A command to one region, as decided and logged. */
export interface Command {
  readonly type: CommandType
  readonly region: string
  readonly serviceId: string
  /** Increases by one with each change of the service. Commands of one change share it. */
  readonly generation: number
}

/**
 * A command as delivered to a region. It has the state of the service in that region at the time of delivery, even if
 * the state was different when the command was decided. Within one store, a region ignores generations that are not
 * newer than its own. Deliveries of another store always count as newer, because a restored backup continues from
 * earlier generations. Gap G24.
 */
export interface Delivery extends Command {
  /** Identity of the store, which changes with a restore. */
  readonly storeId: string
  /** The service as JSON, as in the API; `null` for an end. */
  readonly definition: string | null
}

/** The part of a service's change that regions need. */
export type Announcement = Pick<Command, 'serviceId' | 'generation'>

/** Start commands for `regions`, in their order. Pure. */
export function startIn(regions: readonly string[], announcement: Announcement): readonly Command[] {
  return regions.map((region) => ({ type: 'StartServiceMonitoring', region, ...announcement }))
}

/** End commands for `regions`, in their order. Pure. */
export function endIn(regions: readonly string[], announcement: Announcement): readonly Command[] {
  return regions.map((region) => ({ type: 'EndServiceMonitoring', region, ...announcement }))
}
