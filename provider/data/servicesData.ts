import { formatDuration } from '../../api/contract/duration.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { computed, defineSchema } from '../protocol/authoring/schema.ts'
import type { Connection } from '../service/connection.ts'
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
        id: computed('string', 'UUID of the service.'),
        name: computed('string', 'Name.'),
        interval: computed('string', 'Time between two checks, such as `1m`.'),
        regions: computed({ set: 'string' }, 'Region codes.'),
        urls: computed({ list: 'string' }, 'Endpoint URLs, in order.'),
        paused: computed('bool', 'Whether checks are paused.'),
        created_at: computed('string', 'Creation time, RFC 3339.'),
      },
    },
  },
})

/** `data.pharos_services`. */
export const servicesData = dataSourceFor<Connection>()({
  schema,
  async read(context) {
    const services = await servicesNamed(context.config.name_regex, context)
    return { state: { services: services.map(entryOf) } }
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
