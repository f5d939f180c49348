/** The types of commands. Contract: Events, rule 3. */
export const COMMAND_TYPES = ['StartServiceMonitoring', 'EndServiceMonitoring'] as const
export type CommandType = (typeof COMMAND_TYPES)[number]

/**
 * A command to one region. It has no definition: the region gets the one that is current on delivery, with the identity
 * of the store. Gap G24.
 */
export interface Command {
  readonly type: CommandType
  readonly region: string
  readonly serviceId: string
  /** Increases by one with each change of the service. Commands of one change share it. */
  readonly generation: number
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
