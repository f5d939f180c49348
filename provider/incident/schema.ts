import { INCIDENT_STATUSES, SEVERITIES } from '../../api/contract/incidentTerms.ts'
import { computed, defineSchema, optional, required } from '../protocol/authoring/schema.ts'

/** Default of `resolve_message`. */
export const RESOLVE_MESSAGE = 'Resolved.'

/** `values` as code in Markdown, separated by commas, for the description of an attribute. Pure. */
export function listed(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ')
}

/** Whether both name the same services. The API returns UUIDs in lower case. Pure. */
export function sameIds(prior: readonly string[], next: readonly string[]): boolean {
  const ids = (texts: readonly string[]): string =>
    [...new Set(texts.map((text) => text.toLowerCase()))].sort().join()
  return ids(prior) === ids(next)
}

/** The schema of `pharos_incident`. */
export const incidentSchema = defineSchema({
  version: 0,
  description:
    'An incident. Changing `message`, `status` or `severity` posts one update; destroying the incident posts a last ' +
    'update that resolves it. The API keeps the incident with all updates. An incident resolved by hand stays resolved.',
  attributes: {
    id: { ...computed('string', 'UUID of the incident.'), stable: true },
    display_id: { ...computed('string', 'Short number, such as `INC-7`.'), stable: true },
    title: {
      ...required('string', 'Title. Changing it resolves the incident and opens another. API: `title`.'),
      requiresReplace: true,
    },
    service_ids: {
      ...required(
        { set: 'string' },
        'UUIDs of the affected services, at least one. Changing them resolves the incident and opens another. API: `service_ids`.',
      ),
      requiresReplace: true,
      equal: sameIds,
    },
    message: required(
      'string',
      'Text of the first update. Changing it posts another update with the new text. API: `message`, `body`.',
    ),
    severity: required('string', `One of ${listed(SEVERITIES)}. API: \`severity\`.`),
    status: {
      ...optional(
        'string',
        `One of ${listed(INCIDENT_STATUSES)}. Default: unchanged, \`investigating\` for a new incident. API: \`status\`.`,
      ),
      computed: true,
    },
    resolve_message: optional(
      'string',
      'Text of the update that resolves the incident on destroy. Default: `Resolved.`',
    ),
    created_at: { ...computed('string', 'Time it was opened, RFC 3339.'), stable: true },
    updated_at: computed('string', 'Time of the last update, RFC 3339.'),
    resolved_at: computed('string', 'Time it was resolved, RFC 3339; null while open.'),
  },
})
