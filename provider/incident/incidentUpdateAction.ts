import { INCIDENT_STATUSES, SEVERITIES } from '../../api/contract/incidentTerms.ts'
import { actionFor } from '../protocol/authoring/action.ts'
import { errorAt } from '../protocol/authoring/diagnostics.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import { type Connection, connected } from '../service/connection.ts'
import { isUuid } from '../service/read/identifiers.ts'
import { runTask } from '../service/runTask.ts'
import { listed } from './schema.ts'

/** `action "pharos_update_incident"`. */
export const incidentUpdateAction = actionFor<Connection>()({
  schema: defineSchema({
    description:
      'Posts an update to an incident (Terraform 1.14). `resolved` closes the incident permanently. If an update ' +
      'gets no response, the action searches for it before it posts it again.',
    attributes: {
      incident_id: { type: 'string', required: true, description: 'UUID of the incident.' },
      message: { type: 'string', required: true, description: 'Text of the update. API: `body`.' },
      status: { type: 'string', required: true, description: `One of ${listed(INCIDENT_STATUSES)}.` },
      severity: {
        type: 'string',
        optional: true,
        description: `One of ${listed(SEVERITIES)}. Default: unchanged.`,
      },
    },
  }),
  async validate({ config, report }) {
    const { incident_id: id } = config
    if (id !== UNKNOWN && !isUuid(id))
      report(errorAt(['incident_id'], 'Invalid incident_id', 'incident_id must be the UUID of an incident.'))
    const { updateProblemsIn } = await import('./incidentRequests.ts')
    for (const [attribute, problem] of updateProblemsIn(config))
      report(errorAt([attribute], `Invalid ${attribute}`, `${attribute} ${problem}.`))
  },
  async invoke({ config, client, signal: interrupted, progress }) {
    const { incident_id: id, message, status, severity } = config
    const { updateOf } = await import('./incidentRequests.ts')
    const { updateIfAbsent } = await import('./postIfAbsent.ts')
    const update = updateOf({ body: message, status, severity: severity ?? undefined })
    const limit = { task: `update incident ${id}`, operation: 'update' } as const
    await runTask(limit, interrupted, async (signal) => {
      const session = connected(client)
      await session.checkExpectedOrg(signal)
      const incident = await updateIfAbsent(session, id, { update, signal })
      progress(`Incident ${incident.display_id} is ${incident.status}.`)
    })
  },
})
