import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'
import {
  INCIDENT_STATUSES,
  SECTIONS,
  SEVERITIES,
  type Section,
  type Severity,
} from '../../api/contract/incidentTerms.ts'
import { incidentState } from '../incident/incidentResource.ts'
import { listed } from '../incident/schema.ts'
import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import { listFor } from '../protocol/authoring/listing.ts'
import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import type { Path } from '../protocol/values/path.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import { type Connection, connected } from '../service/connection.ts'
import { isUuid } from '../service/read/identifiers.ts'
import { runTask } from '../service/runTask.ts'

/** Maximum number of incidents in one request. Gap G8. */
const PAGE_SIZE = 100

const updateAttributes = {
  id: { type: 'string', computed: true, description: 'Id of the update.' },
  body: { type: 'string', computed: true, description: 'Text.' },
  status: {
    type: 'string',
    computed: true,
    description: 'Status set by the update. API: `status_at_update`.',
  },
  created_at: { type: 'string', computed: true, description: 'Time it was posted, RFC 3339.' },
} as const

const incidentAttributes = {
  title: { type: 'string', computed: true, description: 'Title.' },
  status: { type: 'string', computed: true, description: `One of ${listed(INCIDENT_STATUSES)}.` },
  severity: { type: 'string', computed: true, description: `One of ${listed(SEVERITIES)}.` },
  service_ids: { type: { set: 'string' }, computed: true, description: 'UUIDs of the affected services.' },
  display_id: { type: 'string', computed: true, description: 'Short number, such as `INC-7`.' },
  created_at: { type: 'string', computed: true, description: 'Time it was opened, RFC 3339.' },
  updated_at: { type: 'string', computed: true, description: 'Time of the last update, RFC 3339.' },
  resolved_at: {
    type: 'string',
    computed: true,
    description: 'Time it was resolved, RFC 3339; null while open.',
  },
  auto_managed: {
    type: 'bool',
    computed: true,
    description: 'Whether the platform opened it automatically.',
  },
  updates: {
    nesting: 'list',
    computed: true,
    description: 'Updates, oldest first.',
    attributes: updateAttributes,
  },
} as const

function stateOf(incident: Incident) {
  return {
    id: incident.id,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    service_ids: incident.service_ids,
    display_id: incident.display_id,
    created_at: incident.created_at,
    updated_at: incident.updated_at,
    resolved_at: incident.resolved_at,
    auto_managed: incident.auto_managed,
    updates: incident.updates.map(({ id, body, status_at_update, created_at }) => ({
      id,
      body,
      status: status_at_update,
      created_at,
    })),
  }
}

const filterAttributes = {
  section: {
    type: 'string',
    optional: true,
    description: `One of ${listed(SECTIONS)}. Default: \`active\`.`,
  },
  severity: {
    type: 'string',
    optional: true,
    description: `One of ${listed(SEVERITIES)}. Default: all.`,
  },
  q: {
    type: 'string',
    optional: true,
    description: 'Text to search for in titles and display ids. Default: none.',
  },
  service_ids: {
    type: { set: 'string' },
    optional: true,
    description: 'Only incidents that affect at least one of these services. Default: all.',
  },
} as const

interface IncidentFilter {
  readonly section: string | null
  readonly severity: string | null
  readonly q: string | null
  readonly service_ids: readonly string[] | null
}

/** The matching incidents, in the order of the API. Throws a DiagnosticError at an attribute with an invalid value. */
async function matching(
  { section, severity, q, service_ids }: IncidentFilter,
  client: Connection,
  interrupted: AbortSignal,
): Promise<readonly Incident[]> {
  const filter = {
    section: oneOf(SECTIONS, section, ['section']) ?? 'active',
    severity: oneOf(SEVERITIES, severity, ['severity']),
    ...{ q: q ?? undefined, serviceIds: service_ids ?? [], limit: PAGE_SIZE },
  }
  return runTask({ task: 'list the incidents', operation: 'read' }, interrupted, async (signal) => {
    const session = connected(client)
    await session.checkExpectedOrg(signal)
    return session.client.incidents.listAll(filter, { signal })
  })
}

/** `data.pharos_incident`. */
export const incidentData = dataSourceFor<Connection>()({
  schema: defineSchema({
    description: 'One incident with its updates.',
    attributes: {
      id: { type: 'string', required: true, description: 'UUID of the incident.' },
      ...incidentAttributes,
    },
  }),
  validate({ config: { id }, report }) {
    if (id !== UNKNOWN && !isUuid(id))
      report(errorAt(['id'], 'Invalid id', 'id must be the UUID of an incident, not its display_id.'))
  },
  async read({ config, client, signal: interrupted }) {
    return runTask({ task: 'read the incident', operation: 'read' }, interrupted, async (signal) => {
      const session = connected(client)
      await session.checkExpectedOrg(signal)
      try {
        const { id, ...state } = stateOf(await session.client.incidents.get(config.id, { signal }))
        return { state }
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'not_found')) throw error
        const detail = `This organisation has no incident ${config.id}.`
        throw new DiagnosticError(errorAt(['id'], 'No such incident', detail))
      }
    })
  },
})

/** `data.pharos_incidents`. */
export const incidentsData = dataSourceFor<Connection>()({
  schema: defineSchema({
    description: 'Incidents of the organisation, from one request for each 100 incidents.',
    attributes: {
      ...filterAttributes,
      incidents: {
        nesting: 'list',
        computed: true,
        description: 'Matching incidents, in API order; empty if none match.',
        attributes: {
          id: { type: 'string', computed: true, description: 'UUID of the incident.' },
          ...incidentAttributes,
        },
      },
    },
  }),
  async read({ config, client, signal }) {
    return { state: { incidents: (await matching(config, client, signal)).map(stateOf) } }
  },
})

/** `list "pharos_incident"`, for `terraform query`. */
export const incidentsList = listFor<Connection>()({
  schema: defineSchema({
    description:
      'Finds incidents of the organisation for `terraform query` (Terraform 1.14), from one request for each 100 incidents.',
    attributes: filterAttributes,
  }),
  async list({ config, client, signal }) {
    return (await matching(config, client, signal)).map((incident) => ({
      displayName: `${incident.display_id} ${incident.title}`,
      state: { ...incidentState(incident, null), resolve_message: null },
    }))
  },
})

function oneOf<V extends Section | Severity>(
  values: readonly V[],
  text: string | null,
  path: Path,
): V | undefined {
  if (text === null) return undefined
  const value = values.find((candidate) => candidate === text)
  if (value !== undefined) return value
  throw new DiagnosticError(errorAt(path, 'Invalid filter', `It must be one of ${values.join(', ')}.`))
}
