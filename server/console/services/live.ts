import type { RouteResponse, OrgRequest } from '../routing/route.ts'

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
    isOwn: async (serviceId: string) => (await store.getService(org.id, serviceId)) !== undefined,
    isMember: async () => {
      const found = await store.sessionOf(session.idHash, environment.nowMs())
      return (
        found !== undefined && (await store.membershipsOf(person.id)).some(({ orgId }) => orgId === org.id)
      )
    },
  }
  return { kind: 'stream', start: (reply) => streams.start(reply, reader) }
}
