import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { computed, defineSchema } from '../protocol/authoring/schema.ts'
import { type Connection, connected } from '../service/connection.ts'
import { runTask } from '../service/runTask.ts'

const schema = defineSchema({
  description: 'The regions from which services can be monitored.',
  attributes: {
    codes: computed({ set: 'string' }, 'Codes of all regions.'),
    regions: {
      nesting: 'list',
      computed: true,
      description: 'All regions, in API order.',
      attributes: {
        code: computed('string', 'Region code, as used in `regions` of a service.'),
        city: computed('string', 'City.'),
        country: computed('string', 'Country.'),
      },
    },
  },
})

/** `data.pharos_regions`. */
export const regionsData = dataSourceFor<Connection>()({
  schema,
  async read({ client, signal: interrupted }) {
    return runTask({ task: 'list the regions', operation: 'read' }, interrupted, async (signal) => {
      const regions = await connected(client).regions(signal)
      return { state: { codes: regions.map(({ code }) => code), regions } }
    })
  },
})
