import { computed, defineSchema, optional, required } from '../../protocol/authoring/schema.ts'
import { assertionAttributes } from './assertionKinds.ts'
import { durationText, sameDuration } from './spellings.ts'

const valueAttributes = {
  value: optional(
    'string',
    'The value in clear text: stored in the state and shown in plans. Not for secrets.',
  ),
  value_wo: {
    ...optional(
      'string',
      'A secret: encrypted by the server, never in state or plan. The provider detects a changed secret. ' +
        'Requires Terraform or OpenTofu 1.11.',
    ),
    sensitive: true,
    writeOnly: true,
  },
  value_wo_version: optional('string', 'Change this to send an unchanged `value_wo` again.'),
} as const

const httpAttributes = {
  method: required('string', '`GET` or `POST`. API: `method`.'),
  timeout: durationText('Time limit of the whole check, up to `60s`. Server default: 10 s. API: `timeout`.'),
  max_redirects: optional(
    'number',
    'Redirects to follow, at most 20; 0 checks the redirect itself. Server default: 10. API: `max_redirects_to_follow`.',
  ),
  with_dns: optional(
    'bool',
    'Whether each check resolves the host name again, and latencies include that time. Default: false. API: `with_dns`.',
  ),
  body: {
    nesting: 'single',
    optional: true,
    description: 'Request body: either `value` or `value_wo`. API: `body`.',
    attributes: valueAttributes,
  },
  headers: {
    nesting: 'map',
    optional: true,
    description: 'Request headers by name, each with either `value` or `value_wo`. API: `headers`.',
    attributes: valueAttributes,
  },
} as const

const endpointAttributes = {
  url: required('string', 'Absolute `http://` or `https://` URL. API: `url`.'),
  name: optional(
    'string',
    'Name of the endpoint; an empty string is a name too. Default: none. API: `name`.',
  ),
  http: {
    nesting: 'single',
    required: true,
    description: 'The HTTP request to make. API: `call.Http`.',
    attributes: httpAttributes,
  },
  assertions: {
    nesting: 'list',
    optional: true,
    description:
      'Conditions of a successful check, each of exactly one kind. Default: none. API: `assertions`.',
    attributes: assertionAttributes,
  },
} as const

const timeoutAttributes = {
  create: durationText('Time limit for creating the service, including its pause. Default: `10m`.'),
  read: durationText(
    'Time limit for reading the service, default `10m`, and for the list of regions in a plan, default `1m`.',
  ),
  update: durationText('Time limit for changing the service. Default: `10m`.'),
  delete: durationText('Time limit for deleting the service. Default: `10m`.'),
} as const

/**
 * The schema of `pharos_service`. Nothing inside `endpoints` is computed. Attributes that the server sets for them are
 * beside `endpoints`, so that a plan never shows "(known after apply)" inside configured values.
 */
export const serviceSchema = defineSchema({
  version: 0,
  description: 'A monitored service: HTTP checks run from regions at a fixed interval.',
  attributes: {
    id: { ...computed('string', 'UUID of the service.'), stable: true },
    org_id: { ...computed('string', 'UUID of the organisation.'), stable: true },
    created_at: { ...computed('string', 'Creation time, RFC 3339.'), stable: true },
    created_by_email: {
      ...computed('string', 'E-mail address of the creator; null if created with an API key.'),
      stable: true,
    },
    name: required('string', 'Name of the service, 1 to 255 characters. API: `name`.'),
    interval: {
      ...required(
        'string',
        'Time between two checks in whole seconds, such as `30s` or `5m`. API: `interval_secs`.',
      ),
      equal: sameDuration,
    },
    regions: required({ set: 'string' }, 'Codes of the regions to check from, at least one. API: `regions`.'),
    paused: {
      ...optional('bool', 'Whether checks are paused. Default: unchanged, so that a manual pause survives.'),
      computed: true,
    },
    paused_at: computed('string', 'Time it was paused, RFC 3339; null when active.'),
    auto_incident: {
      ...computed(
        { object: { enabled: 'bool', failure_threshold: 'number', window_minutes: 'number' } },
        'Settings for automatic incidents; read-only in the API.',
      ),
      stable: true,
    },
    endpoints: {
      nesting: 'list',
      required: true,
      description: 'Endpoints to check, at least one. API: `endpoints`.',
      attributes: endpointAttributes,
    },
    endpoint_ids: computed({ list: 'string' }, 'UUIDs of the endpoints, in the order of `endpoints`.'),
    endpoints_blocked: computed(
      { list: 'bool' },
      'Whether the platform refuses to check each endpoint, in the order of `endpoints`.',
    ),
    sealed_key_ids: computed(
      { map: 'string' },
      'Key id of each sealed value, by path: `0.body`, `0.headers.Authorization`. It changes with every write of the ' +
        'value, including writes by other clients.',
    ),
    secrets_revision: computed(
      'number',
      'Number of times the secrets were sent: every change of the definition sends them. If nothing else changes, ' +
        'a planned change of this number means a rotated secret.',
    ),
    timeouts: {
      nesting: 'single',
      optional: true,
      description: 'Time limits of operations, including waits for the rate limit.',
      attributes: timeoutAttributes,
    },
  },
})
