/**
 * Maximum number of deliveries in progress: in total, for one organisation, and for failing channels. A channel has at
 * most one. Gap G9.
 */
const UNDER_WAY_MAX = 64
const ORG_UNDER_WAY_MAX = 32
const FAILING_UNDER_WAY_MAX = 16

/** A channel with a delivery that is in progress or due. */
export interface Slot {
  readonly channelId: string
  readonly orgId: string
}

/**
 * The deliveries of `due` that may start now, in order. The channels in `failing`, whose last attempt failed, share a
 * few slots, and so do the channels of one organisation. So receivers that never respond do not delay the others. Pure.
 */
export function slotsToStart<Due extends Slot>(
  due: readonly Due[],
  underWay: readonly Slot[],
  failing: ReadonlySet<string>,
): readonly Due[] {
  const taken = [...underWay]
  const count = (matches: (slot: Slot) => boolean): number => taken.filter(matches).length
  return due.filter((slot) => {
    const { channelId, orgId } = slot
    const isFree =
      taken.length < UNDER_WAY_MAX &&
      count((one) => one.channelId === channelId) === 0 &&
      count((one) => one.orgId === orgId) < ORG_UNDER_WAY_MAX &&
      (!failing.has(channelId) || count((one) => failing.has(one.channelId)) < FAILING_UNDER_WAY_MAX)
    if (isFree) taken.push(slot)
    return isFree
  })
}
