import { formatDuration } from '../../api/contract/duration.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { DiagnosticError, errorAt, warningAt } from '../protocol/diagnostics.ts'
import { dataSourceFor } from '../protocol/provider.ts'
import { defineSchema } from '../protocol/schema/schema.ts'
import { type Connection, connected } from '../service/connection.ts'
import { explained } from '../service/explain.ts'
import { listedServices } from './servicesFound.ts'

const schema = defineSchema({
  description: 'Services of the organisation, from one list request however many there are.',
  attributes: {
    name_regex: {
      type: 'string',
      optional: true,
      description: 'Only services whose name this matches somewhere, in RE2 syntax. Default: all.',
    },
    services: {
      nesting: 'list',
      computed: true,
      description: 'The services found, by name; empty when there are none.',
      attributes: {
        id: { type: 'string', computed: true, description: 'UUID of the service.' },
        name: { type: 'string', computed: true, description: 'Its name.' },
        interval: { type: 'string', computed: true, description: 'Time between two checks, such as `1m`.' },
        regions: { type: { set: 'string' }, computed: true, description: 'Codes of its regions.' },
        urls: { type: { list: 'string' }, computed: true, description: 'URLs of its endpoints, in order.' },
        paused: { type: 'bool', computed: true, description: 'Whether its checks are paused.' },
        created_at: { type: 'string', computed: true, description: 'When it was created, RFC 3339.' },
      },
    },
  },
})

/** `data.pharos_services`. */
export const servicesData = dataSourceFor<Connection>()({
  schema,
  async read({ config, client, signal, report }) {
    return explained('list the services', async () => {
      const session = connected(client)
      await session.checkExpectedOrg()
      const isWanted = await nameFilter(config.name_regex)
      const { services, unreadable } = await listedServices(session, signal)
      for (const { message } of unreadable)
        report(warningAt(undefined, 'A service was left out', `${message}.`))
      return { state: { services: services.filter(({ name }) => isWanted(name)).map(entryOf) } }
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

/** Whether a name matches `pattern`; every name without one. The engine takes linear time and is loaded only here. */
async function nameFilter(pattern: string | null): Promise<(name: string) => boolean> {
  if (pattern === null) return () => true
  const { RE2JS } = await import('re2js')
  try {
    const compiled = RE2JS.compile(pattern)
    return (name) => compiled.matcher(name).find()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DiagnosticError(errorAt(['name_regex'], 'Invalid regular expression', `${reason}.`))
  }
}
