import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import { type Connection, connected } from '../service/connection.ts'
import { runTask } from '../service/runTask.ts'

const schema = defineSchema({
  description: 'The organisation that the API key belongs to.',
  attributes: {
    id: { type: 'string', computed: true, description: 'UUID of the organisation.' },
    name: { type: 'string', computed: true, description: 'Name.' },
    plan: { type: 'string', computed: true, description: 'Plan.' },
    scope: {
      type: 'string',
      computed: true,
      description: 'Scope of the API key: `read_only` or `read_write`.',
    },
  },
})

/** `data.pharos_org`. */
export const orgData = dataSourceFor<Connection>()({
  schema,
  async read({ client, signal: interrupted }) {
    const limit = { task: 'read the organisation', operation: 'read' } as const
    return runTask(limit, interrupted, async (signal) => {
      const session = connected(client)
      await session.checkExpectedOrg(signal)
      return { state: await session.org(signal) }
    })
  },
})
