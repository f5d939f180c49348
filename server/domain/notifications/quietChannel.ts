import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { ChannelEvent } from './payload.ts'

interface ChannelScope {
  readonly events: readonly ChannelEvent[]
  /** `null` for all services. */
  readonly serviceIds: readonly string[] | null
}

/**
 * Why a channel for incidents stays silent when a service fails: none of its services opens incidents automatically.
 * `undefined` when one does, without services, and for a channel without incidents. Pure.
 */
export function quietChannelNote(
  { events, serviceIds }: ChannelScope,
  services: readonly Pick<ServiceResponse, 'id' | 'auto_incident_enabled'>[],
): string | undefined {
  const own = services.filter(({ id }) => serviceIds?.includes(id) ?? true)
  if (!events.includes('incident.created') || own.length === 0) return undefined
  if (own.some(({ auto_incident_enabled: isOn }) => isOn)) return undefined
  return (
    'automatic incidents are off for all services of this channel, so it gets only incidents that people open: ' +
    '"service auto-incidents --all" switches them on, and "org auto-incidents" for services created later'
  )
}
