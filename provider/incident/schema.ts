import { INCIDENT_STATUSES, SEVERITIES } from '../../api/contract/incidentTerms.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'

/** What the update says that resolves an incident, unless `resolve_message` says it. */
export const RESOLVE_MESSAGE = 'Resolved.'

function listed(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ')
}

/** Whether both name the same services: the API answers UUIDs in small letters, however they were sent. Pure. */
export function sameIds(prior: readonly string[], next: readonly string[]): boolean {
  const ids = (texts: readonly string[]): string =>
    [...new Set(texts.map((text) => text.toLowerCase()))].sort().join()
  return ids(prior) === ids(next)
}

/** `pharos_incident` as practitioners see it. */
export const incidentSchema = defineSchema({
  version: 0,
  description:
    'An incident. The API keeps its log for good: a change of `message`, `status` or `severity` posts one update, ' +
    'and destroying it posts a last one that resolves it. One that was resolved by hand stays resolved.',
  attributes: {
    id: { type: 'string', computed: true, stable: true, description: 'UUID of the incident.' },
    display_id: {
      type: 'string',
      computed: true,
      stable: true,
      description: 'Its number for people, such as `INC-7`.',
    },
    title: {
      type: 'string',
      required: true,
      requiresReplace: true,
      description: 'Its title; a change resolves it and opens another. API: `title`.',
    },
    service_ids: {
      type: { set: 'string' },
      required: true,
      requiresReplace: true,
      equal: sameIds,
      description:
        'UUIDs of the affected services, at least one; a change resolves it and opens another. API: `service_ids`.',
    },
    message: {
      type: 'string',
      required: true,
      description: 'Text of the first update, and of the next one when it changes. API: `message`, `body`.',
    },
    severity: {
      type: 'string',
      required: true,
      description: `One of ${listed(SEVERITIES)}. API: \`severity\`.`,
    },
    status: {
      type: 'string',
      optional: true,
      computed: true,
      description: `One of ${listed(INCIDENT_STATUSES)}. Left out: as it is, at first \`investigating\`. API: \`status\`.`,
    },
    resolve_message: {
      type: 'string',
      optional: true,
      description: 'Text of the update that resolves it when it is destroyed. Default: `Resolved.`',
    },
    created_at: {
      type: 'string',
      computed: true,
      stable: true,
      description: 'When it was opened, RFC 3339.',
    },
    updated_at: { type: 'string', computed: true, description: 'When the last update was posted, RFC 3339.' },
    resolved_at: {
      type: 'string',
      computed: true,
      description: 'When it was resolved, RFC 3339; null while it is open.',
    },
  },
})
