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
import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import { listFor } from '../protocol/authoring/listing.ts'
import { dataSourceFor } from '../protocol/authoring/provider.ts'
import { computed, defineSchema, optional, required } from '../protocol/authoring/schema.ts'
import type { Path } from '../protocol/values/path.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Connection } from '../service/connection.ts'
import { isUuid } from '../service/read/identifiers.ts'
import { runInSession } from '../service/runTask.ts'

/** Maximum number of incidents in one request. Gap G8. */
const PAGE_SIZE = 100

const updateAttributes = {
  id: computed('string', 'Id of the update.'),
  body: computed('string', 'Text.'),
  status: computed('string', 'Status set by the update. API: `status_at_update`.'),
  created_at: computed('string', 'Time it was posted, RFC 3339.'),
} as const

const incidentAttributes = {
  title: computed('string', 'Title.'),
  status: computed('string', `One of ${listed(INCIDENT_STATUSES)}.`),
  severity: computed('string', `One of ${listed(SEVERITIES)}.`),
  service_ids: computed({ set: 'string' }, 'UUIDs of the affected services.'),
  display_id: computed('string', 'Short number, such as `INC-7`.'),
  created_at: computed('string', 'Time it was opened, RFC 3339.'),
  updated_at: computed('string', 'Time of the last update, RFC 3339.'),
  resolved_at: computed('string', 'Time it was resolved, RFC 3339; null while open.'),
  auto_managed: computed('bool', 'Whether the platform opened it automatically.'),
  updates: {
    nesting: 'list',
    computed: true,
    description: 'Updates, oldest first.',
    attributes: updateAttributes,
  },
} as const

function stateOf({ kind, created_by, updates, ...state }: Incident) {
  return {
    ...state,
    updates: updates.map(({ status_at_update: status, ...update }) => ({ ...update, status })),
  }
}

const filterAttributes = {
  section: optional('string', `One of ${listed(SECTIONS)}. Default: \`active\`.`),
  severity: optional('string', `One of ${listed(SEVERITIES)}. Default: all.`),
  q: optional('string', 'Text to search for in titles and display ids. Default: none.'),
  service_ids: optional(
    { set: 'string' },
    'Only incidents that affect at least one of these services. Default: all.',
  ),
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
  context: ConfiguredContext<Connection>,
): Promise<readonly Incident[]> {
  const filter = {
    section: oneOf(SECTIONS, section, ['section']) ?? 'active',
    severity: oneOf(SEVERITIES, severity, ['severity']),
    ...{ q: q ?? undefined, serviceIds: service_ids ?? [], limit: PAGE_SIZE },
  }
  return runInSession({ task: 'list the incidents', operation: 'read' }, context, (session, signal) =>
    session.client.incidents.listAll(filter, { signal }),
  )
}

/** `data.pharos_incident`. */
export const incidentData = dataSourceFor<Connection>()({
  schema: defineSchema({
    description: 'One incident with its updates.',
    attributes: {
      id: required('string', 'UUID of the incident.'),
      ...incidentAttributes,
    },
  }),
  validate({ config: { id }, report }) {
    if (id !== UNKNOWN && !isUuid(id))
      report(errorAt(['id'], 'Invalid id', 'id must be the UUID of an incident, not its display_id.'))
  },
  async read(context) {
    const { id: wanted } = context.config
    return runInSession(
      { task: 'read the incident', operation: 'read' },
      context,
      async (session, signal) => {
        try {
          const { id, ...state } = stateOf(await session.client.incidents.get(wanted, { signal }))
          return { state }
        } catch (error) {
          if (!(error instanceof ApiError && error.code === 'not_found')) throw error
          const detail = `This organisation has no incident ${wanted}.`
          throw new DiagnosticError(errorAt(['id'], 'No such incident', detail))
        }
      },
    )
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
          id: computed('string', 'UUID of the incident.'),
          ...incidentAttributes,
        },
      },
    },
  }),
  async read(context) {
    return { state: { incidents: (await matching(context.config, context)).map(stateOf) } }
  },
})

/** `list "pharos_incident"`, for `terraform query`. */
export const incidentsList = listFor<Connection>()({
  schema: defineSchema({
    description:
      'Finds incidents of the organisation for `terraform query` (Terraform 1.14), from one request for each 100 incidents.',
    attributes: filterAttributes,
  }),
  async list(context) {
    return (await matching(context.config, context)).map((incident) => ({
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
