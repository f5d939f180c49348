import { formatDuration } from '../../api/contract/duration.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import type { Connection } from '../service/connection.ts'
import { runTask } from '../service/runTask.ts'
import { NAME_REGEX, servicesNamed } from './servicesFound.ts'

const schema = defineSchema({
  description: 'Services of the organisation, from a single list request.',
  attributes: {
    name_regex: NAME_REGEX,
    services: {
      nesting: 'list',
      computed: true,
      description: 'Matching services, sorted by name; empty if none match.',
      attributes: {
        id: { type: 'string', computed: true, description: 'UUID of the service.' },
        name: { type: 'string', computed: true, description: 'Name.' },
        interval: { type: 'string', computed: true, description: 'Time between two checks, such as `1m`.' },
        regions: { type: { set: 'string' }, computed: true, description: 'Region codes.' },
        urls: { type: { list: 'string' }, computed: true, description: 'Endpoint URLs, in order.' },
        paused: { type: 'bool', computed: true, description: 'Whether checks are paused.' },
        created_at: { type: 'string', computed: true, description: 'Creation time, RFC 3339.' },
      },
    },
  },
})

/** `data.pharos_services`. */
export const servicesData = dataSourceFor<Connection>()({
  schema,
  async read({ config, ...context }) {
    const limit = { task: 'list the services', operation: 'read' } as const
    return runTask(limit, context.signal, async (signal) => {
      const services = await servicesNamed(config.name_regex, { ...context, signal })
      return { state: { services: services.map(entryOf) } }
    })
  },
})

function entryOf(service: ServiceResponse) {
  return {
    id: service.id,
    name: service.name,
    interval: formatDuration({ secs: service.interval_secs, nanos: 0 }),
    regions: service.regions,
    urls: service.endpoints.map(({ url }) => url),
    paused: service.paused_at != null,
    created_at: service.created_at,
  }
}
