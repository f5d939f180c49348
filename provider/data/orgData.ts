import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { computed, defineSchema } from '../protocol/authoring/schema.ts'
import type { Connection } from '../service/connection.ts'
import { runInSession } from '../service/runTask.ts'

const schema = defineSchema({
  description: 'The organisation that the API key belongs to.',
  attributes: {
    id: computed('string', 'UUID of the organisation.'),
    name: computed('string', 'Name.'),
    plan: computed('string', 'Plan.'),
    scope: computed('string', 'Scope of the API key: `read_only` or `read_write`.'),
  },
})

/** `data.pharos_org`. */
export const orgData = dataSourceFor<Connection>()({
  schema,
  async read(context) {
    const task = { task: 'read the organisation', operation: 'read' } as const
    return runInSession(task, context, async (session, signal) => ({ state: await session.org(signal) }))
  },
})
