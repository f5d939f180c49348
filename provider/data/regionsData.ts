import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import { attempted } from '../service/attempted.ts'
import { type Connection, connected } from '../service/connection.ts'

const schema = defineSchema({
  description: 'The regions from which services can be monitored.',
  attributes: {
    codes: { type: { set: 'string' }, computed: true, description: 'Codes of all regions.' },
    regions: {
      nesting: 'list',
      computed: true,
      description: 'All regions, in the order of the API.',
      attributes: {
        code: { type: 'string', computed: true, description: 'What `regions` of a service takes.' },
        city: { type: 'string', computed: true, description: 'Its city.' },
        country: { type: 'string', computed: true, description: 'Its country.' },
      },
    },
  },
})

/** `data.pharos_regions`. */
export const regionsData = dataSourceFor<Connection>()({
  schema,
  async read({ client, signal: interrupted }) {
    return attempted({ task: 'list the regions', operation: 'read' }, interrupted, async (signal) => {
      const regions = await connected(client).regions(signal)
      return { state: { codes: regions.map(({ code }) => code), regions } }
    })
  },
})
