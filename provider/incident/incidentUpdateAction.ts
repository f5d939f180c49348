import { INCIDENT_STATUSES, SEVERITIES } from '../../api/contract/incidentTerms.ts'
import { actionFor } from '../protocol/authoring/action.ts'
import { errorAt } from '../protocol/authoring/diagnostics.ts'
import { defineSchema, optional, required } from '../protocol/authoring/schema.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Connection } from '../service/connection.ts'
import { isUuid } from '../service/read/identifiers.ts'
import { runInSession } from '../service/runTask.ts'
import { listed } from './schema.ts'

/** `action "pharos_update_incident"`. */
export const incidentUpdateAction = actionFor<Connection>()({
  schema: defineSchema({
    description:
      'Posts an update to an incident (Terraform 1.14). `resolved` closes the incident permanently. If an update ' +
      'gets no response, the action searches for it before it posts it again.',
    attributes: {
      incident_id: required('string', 'UUID of the incident.'),
      message: required('string', 'Text of the update. API: `body`.'),
      status: required('string', `One of ${listed(INCIDENT_STATUSES)}.`),
      severity: optional('string', `One of ${listed(SEVERITIES)}. Default: unchanged.`),
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
  async invoke(context) {
    const { incident_id: id, message, status, severity } = context.config
    const { incidentUpdateRequestSchema } = await import('../../api/contract/incident.ts')
    const { updateIfAbsent } = await import('./postIfAbsent.ts')
    const update = incidentUpdateRequestSchema.parse({
      body: message,
      status,
      severity: severity ?? undefined,
    })
    const task = { task: `update incident ${id}`, operation: 'update' } as const
    await runInSession(task, context, async (session, signal) => {
      const incident = await updateIfAbsent(session, id, { update, signal })
      context.progress(`Incident ${incident.display_id} is ${incident.status}.`)
    })
  },
})
