/** Contract: Events, rule 3. */
export const COMMAND_TYPES = ['StartServiceMonitoring', 'EndServiceMonitoring'] as const
export type CommandType = (typeof COMMAND_TYPES)[number]

/** What one region is told to do. A region ignores a command whose generation is not newer than what it has. */
export interface Command {
  readonly type: CommandType
  readonly region: string
  readonly serviceId: string
  /** Grows by one with each change of the service; commands of one change share it. */
  readonly generation: number
  /** The service as the API shows it, JSON; `null` for an end. */
  readonly definition: string | null
}

/** One change of a service, as far as the regions need to know. */
export interface Announcement {
  readonly serviceId: string
  readonly generation: number
  readonly definition: string
}

/** Start commands for `regions`, in their order. Pure. */
export function startIn(regions: readonly string[], announcement: Announcement): readonly Command[] {
  return regions.map((region) => ({ type: 'StartServiceMonitoring', region, ...announcement }))
}

/** End commands for `regions`, in their order. Pure. */
export function endIn(
  regions: readonly string[],
  { serviceId, generation }: Omit<Announcement, 'definition'>,
): readonly Command[] {
  return regions.map((region) => ({
    type: 'EndServiceMonitoring',
    region,
    serviceId,
    generation,
    definition: null,
  }))
}
