import { defineSchema } from '../../protocol/authoring/schema.ts'
import { assertionAttributes } from './assertionKinds.ts'
import { durationText, sameDuration } from './spellings.ts'

const valueAttributes = {
  value: {
    type: 'string',
    optional: true,
    description: 'The value in clear: it is stored in the state and shown in plans. Not for secrets.',
  },
  value_wo: {
    type: 'string',
    optional: true,
    sensitive: true,
    writeOnly: true,
    description:
      'A secret: encrypted by the server, never in state or plan. A changed one is noticed by itself. ' +
      'Needs Terraform or OpenTofu 1.11.',
  },
  value_wo_version: {
    type: 'string',
    optional: true,
    description: 'Change it to send `value_wo` again although it is the same.',
  },
} as const

const httpAttributes = {
  method: { type: 'string', required: true, description: '`GET` or `POST`. API: `method`.' },
  timeout: {
    ...durationText,
    description:
      'Longest time for the whole check, up to `60s`. Default: 10 s, by the server. API: `timeout`.',
  },
  max_redirects: {
    type: 'number',
    optional: true,
    description:
      'Redirects to follow; 0 checks the redirect itself. Default: 10, by the server. API: `max_redirects_to_follow`.',
  },
  with_dns: {
    type: 'bool',
    optional: true,
    description: 'Whether the name is resolved anew for each check. Default: false. API: `with_dns`.',
  },
  body: {
    nesting: 'single',
    optional: true,
    description: 'Body of the request: either `value` or `value_wo`. API: `body`.',
    attributes: valueAttributes,
  },
  headers: {
    nesting: 'map',
    optional: true,
    description: 'Headers of the request by name, each either `value` or `value_wo`. API: `headers`.',
    attributes: valueAttributes,
  },
} as const

const endpointAttributes = {
  url: { type: 'string', required: true, description: 'Absolute `http://` or `https://` URL. API: `url`.' },
  name: {
    type: 'string',
    optional: true,
    description: 'Name of the endpoint; an empty text is a name of its own. Default: none. API: `name`.',
  },
  http: {
    nesting: 'single',
    required: true,
    description: 'The HTTP request to make. API: `call.Http`.',
    attributes: httpAttributes,
  },
  assertions: {
    nesting: 'list',
    optional: true,
    description: 'What has to hold, each entry with exactly one kind. Default: none. API: `assertions`.',
    attributes: assertionAttributes,
  },
} as const

const timeoutAttributes = {
  create: { ...durationText, description: 'Longest time to create it, and to pause it. Default: `10m`.' },
  read: {
    ...durationText,
    description:
      'Longest time to read it, default `10m`; and for a plan to wait for the list of regions, default `1m`.',
  },
  update: { ...durationText, description: 'Longest time for a change. Default: `10m`.' },
  delete: { ...durationText, description: 'Longest time to delete it. Default: `10m`.' },
} as const

/**
 * `pharos_service` as practitioners see it. Nothing inside `endpoints` is computed: what the server knows of
 * them stands beside them, so that a plan never shows "(known after apply)" inside what was configured.
 */
export const serviceSchema = defineSchema({
  version: 0,
  description: 'A monitored service: HTTP checks run from regions at a fixed interval.',
  attributes: {
    id: { type: 'string', computed: true, stable: true, description: 'UUID of the service.' },
    org_id: { type: 'string', computed: true, stable: true, description: 'UUID of its organisation.' },
    created_at: {
      type: 'string',
      computed: true,
      stable: true,
      description: 'When it was created, RFC 3339.',
    },
    created_by_email: {
      type: 'string',
      computed: true,
      stable: true,
      description: 'E-mail address of its creator; null when an API key created it.',
    },
    name: {
      type: 'string',
      required: true,
      description: 'Name of the service, 1 to 255 characters. API: `name`.',
    },
    interval: {
      type: 'string',
      required: true,
      equal: sameDuration,
      description: 'Time between two checks in whole seconds, such as `30s` or `5m`. API: `interval_secs`.',
    },
    regions: {
      type: { set: 'string' },
      required: true,
      description: 'Codes of the regions to check from, at least one. API: `regions`.',
    },
    paused: {
      type: 'bool',
      optional: true,
      computed: true,
      description: 'Whether checks are paused. Left out: as it is, so that a pause by hand survives.',
    },
    paused_at: {
      type: 'string',
      computed: true,
      description: 'When it was paused, RFC 3339; null when active.',
    },
    auto_incident: {
      type: { object: { enabled: 'bool', failure_threshold: 'number', window_minutes: 'number' } },
      computed: true,
      stable: true,
      description: 'Settings for automatic incidents; the API does not let them be changed.',
    },
    endpoints: {
      nesting: 'list',
      required: true,
      description: 'What is checked, at least one endpoint. API: `endpoints`.',
      attributes: endpointAttributes,
    },
    endpoint_ids: {
      type: { list: 'string' },
      computed: true,
      description: 'UUIDs of the endpoints, in the order of `endpoints`.',
    },
    endpoints_blocked: {
      type: { list: 'bool' },
      computed: true,
      description: 'Which endpoints the platform refuses to check, in the order of `endpoints`.',
    },
    sealed_key_ids: {
      type: { map: 'string' },
      computed: true,
      description:
        'Key id of each sealed value, by its place: `0.body`, `0.headers.Authorization`. It changes whenever the value is ' +
        'written, also by something else.',
    },
    secrets_revision: {
      type: 'number',
      computed: true,
      description:
        'Counts how often secrets were sent, which each change of the definition does. Where nothing else changes, ' +
        'a planned change of it is a rotated secret.',
    },
    timeouts: {
      nesting: 'single',
      optional: true,
      description: 'How long operations may take, waiting for the rate limit included.',
      attributes: timeoutAttributes,
    },
  },
})
