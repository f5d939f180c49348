import { dataSourceFor } from '../protocol/provider.ts'
import { defineSchema } from '../protocol/schema/schema.ts'
import { type Connection, connected } from '../service/connection.ts'
import { explained } from '../service/explain.ts'

const schema = defineSchema({
  description: 'The organisation that the API key belongs to.',
  attributes: {
    id: { type: 'string', computed: true, description: 'UUID of the organisation.' },
    name: { type: 'string', computed: true, description: 'Its name.' },
    plan: { type: 'string', computed: true, description: 'Its plan.' },
    scope: {
      type: 'string',
      computed: true,
      description: 'What the key may do: `read_only` or `read_write`.',
    },
  },
})

/** `data.pharos_org`. */
export const orgData = dataSourceFor<Connection>()({
  schema,
  async read({ client }) {
    return explained('read the organisation', async () => {
      const session = connected(client)
      await session.checkExpectedOrg()
      return { state: await session.org() }
    })
  },
})
