import type { Store } from '../../store/store.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'

/** Maximum number of services read one by one; beyond, all services of the organisation are read. */
const SINGLE_READS_MAX = 20

/**
 * Those of `serviceIds` that belong to the organisation. In an outage, thousands of services of all organisations change
 * at once, and each open page asks.
 */
export async function ownServices(
  store: Pick<Store, 'getService' | 'serviceGenerations'>,
  orgId: string,
  serviceIds: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (serviceIds.size > SINGLE_READS_MAX) {
    const own = await store.serviceGenerations(orgId)
    return [...serviceIds].filter((id) => own.has(id))
  }
  const own: string[] = []
  for (const id of serviceIds) if ((await store.getService(orgId, id)) !== undefined) own.push(id)
  return own
}

/** The event stream of an organisation. */
export async function live(request: OrgRequest): Promise<RouteResponse> {
  const { session, measurements, store, org, environment, person, streams, incidentWatch } = request
  if (measurements === undefined) return { kind: 'stream', start: (reply) => void reply.code(204).send() }
  const reader = {
    personId: person.id,
    sessionKey: session.idHash.toString('hex'),
    measurements: {
      onChange: (listener: (serviceIds: ReadonlySet<string>) => void) => {
        const ends = [measurements.onChange(listener), incidentWatch.onChange(org.id, listener)]
        return () => {
          for (const end of ends) end()
        }
      },
    },
    ownOf: (serviceIds: ReadonlySet<string>) => ownServices(store, org.id, serviceIds),
    isMember: async () => {
      const found = await store.sessionOf(session.idHash, environment.nowMs())
      return (
        found !== undefined && (await store.membershipsOf(person.id)).some(({ orgId }) => orgId === org.id)
      )
    },
  }
  return { kind: 'stream', start: (reply) => streams.start(reply, reader) }
}
