/** Description of a field, shown by editors. */
export interface FieldDescription {
  readonly description: string
  readonly examples?: readonly unknown[]
}

const about = (description: string, ...examples: readonly unknown[]): FieldDescription =>
  examples.length === 0 ? { description } : { description, examples }

const MATCH = 'Exactly one of equals, contains, startsWith, endsWith and regex.'

/**
 * Descriptions of fields by path; lists add nothing to a path, `*` stands for any key. A path that starts with a kind takes
 * precedence. Fields below `raw` are described by the API.
 */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, FieldDescription>> = {
  apiVersion: about('Version of the format.', 'pharos/v1'),
  kind: about(
    'Service: one monitored service. Defaults: values shared by the services of this folder and below. Environment: variables and patches for --env.',
  ),
  metadata: about('Name, labels and id of the document. Never sent.'),
  'metadata.name': about(
    'Key of the service in the state, independent of spec.name. To change it, add the old name to previousNames.',
    'checkout-api',
  ),
  'Environment.metadata.name': about('Name for --env.', 'staging', 'production'),
  'metadata.labels': about('Labels for --selector, lint rules and patches of an Environment. Never sent.', {
    team: 'payments',
  }),
  'metadata.labels.*': about('Value of the label.'),
  'metadata.id': about(
    'Id of an existing service that this manifest manages from now on.',
    '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
  ),
  'metadata.previousNames': about('Earlier values of metadata.name: the service is kept.', ['checkout']),
  spec: about('How the service is monitored.'),
  'Defaults.spec': about('Default values for the services of this folder and below.'),
  'Environment.spec': about('Variables and patches that --env applies.'),
  'spec.name': about('Name in the API; metadata.name when left out.', 'Checkout API'),
  'spec.interval': about('Time between two checks, in whole seconds.', '30s', '5m'),
  'spec.regions': about('Codes of the regions to check from, as GET /v1/regions lists them.', ['eu-west-1']),
  'spec.paused': about('Whether the service is paused; not managed when left out.', true),
  'spec.endpoints': about('Endpoints that every check requests.'),
  'spec.endpointsDefaults': about('Default values for every endpoint.'),
  'spec.endpoints.url': about('Address, http or https.', 'https://checkout.example.com/health'),
  'spec.endpoints.name': about('Name of the endpoint in the API.', 'health'),
  'spec.endpoints.method': about('GET when left out.', 'POST'),
  'spec.endpoints.timeout': about("At most 60s; the server's default when left out.", '10s', '500ms'),
  'spec.endpoints.maxRedirects': about(
    'Maximum number of redirects to follow; 10 when left out. A check never follows more than 20.',
    3,
  ),
  'spec.endpoints.withDns': about(
    'Whether each check resolves the host name again, and latencies include that time; false when left out.',
    true,
  ),
  'spec.endpoints.headers': about('Headers by name. A secret must be a reference.', {
    Accept: 'application/json',
    Authorization: { env: 'CHECKOUT_PROBE_TOKEN', prefix: 'Bearer ' },
  }),
  'spec.endpoints.headers.*': about(
    'A text in clear, or a secret: { env: NAME } or { file: /run/secrets/NAME }.',
    { env: 'CHECKOUT_PROBE_TOKEN', prefix: 'Bearer ' },
  ),
  'spec.endpoints.body': about(
    'A text in clear, a file of the set such as { file: ./payload.json }, or a secret as in headers.',
    { file: './payload.json' },
  ),
  env: about('Name of an environment variable of the process that runs pharos.', 'CHECKOUT_PROBE_TOKEN'),
  file: about(
    'A secret file below /run/secrets or --secrets-dir; for a body also a file of the set, as ./name.',
  ),
  prefix: about('Text before the secret.', 'Bearer '),
  allowEmpty: about('Whether the secret may be empty.'),
  value: about('The text.'),
  sensitive: about('Whether value is a secret: refused unless --allow-inline-secrets is given.'),
  'spec.endpoints.assertions': about('Assertions about every response; all must hold.', [
    { status: 200 },
    { latency: { total: '< 500ms' } },
  ]),
  'spec.endpoints.assertions.status': about(
    'The status: a code, a class such as 2xx, or a comparison.',
    200,
    '2xx',
    { lt: 400 },
  ),
  'spec.endpoints.assertions.status.eq': about('Exactly this status.'),
  'spec.endpoints.assertions.status.not': about('Any other status.'),
  'spec.endpoints.assertions.status.lt': about('Below this status.'),
  'spec.endpoints.assertions.status.lte': about('This status or below.'),
  'spec.endpoints.assertions.status.gt': about('Above this status.'),
  'spec.endpoints.assertions.status.gte': about('This status or above.'),
  'spec.endpoints.assertions.status.between': about('From the first to the second, inclusive.', [200, 204]),
  'spec.endpoints.assertions.status.oneOf': about('One of these.', [200, 204]),
  'spec.endpoints.assertions.latency': about('Time taken: until the headers, for the body, or in total.', {
    total: '< 500ms',
  }),
  'spec.endpoints.assertions.latency.headers': about('Until the headers were received.', '< 500ms'),
  'spec.endpoints.assertions.latency.body': about('For the body.', '< 500ms'),
  'spec.endpoints.assertions.latency.total': about('In total.', '< 500ms', '10ms..200ms'),
  'spec.endpoints.assertions.dns': about('Time of name resolution.', '<= 50ms'),
  'spec.endpoints.assertions.header': about(`A header of the response. ${MATCH}`, {
    name: 'content-type',
    contains: 'json',
  }),
  'spec.endpoints.assertions.header.name': about('Name of the header.', 'content-type'),
  'spec.endpoints.assertions.body': about(`The body of the response. ${MATCH}`, { contains: 'ok' }),
  equals: about('Equals this text.'),
  contains: about('Contains this text.'),
  startsWith: about('Starts with this text.'),
  endsWith: about('Ends with this text.'),
  regex: about('Matches this regular expression, in the syntax of RE2.', '^ok'),
  'spec.endpoints.assertions.raw': about('An assertion in the form of the API.', {
    StatusCode: { expected: { GreaterOrEqual: 200 } },
  }),
  'spec.vars': about(`Values for \${var.name} in the texts of spec and policy.`, {
    host: 'staging.example.com',
  }),
  'spec.vars.*': about('Value of the variable.'),
  'spec.patches': about(
    'Changes to single services: mappings merge, null removes, everything else replaces.',
  ),
  'spec.patches.target': about('The services to patch: by name, by labels, or all with {}.', {
    name: 'checkout',
  }),
  'spec.patches.target.name': about('metadata.name of one service.', 'checkout'),
  'spec.patches.target.labels': about('Labels that a service must have, all of them.', {
    team: 'payments',
  }),
  'spec.patches.target.labels.*': about('Value of the label.'),
  'spec.patches.patch': about('The changes, in the form of a Service.', { spec: { interval: '5m' } }),
  'spec.patches.patch.spec': about('Changes below spec.', { interval: '5m' }),
  'spec.patches.patch.policy': about('Changes below policy.', { drift: 'report' }),
  policy: about('How pharos manages the service.'),
  'policy.onDelete': about('What happens when the manifest is removed; delete when left out.', 'pause'),
  'policy.pruneAfter': about(
    'Time after which a service paused by onDelete: pause is deleted; never when left out.',
    '24h',
  ),
  'policy.ignore': about('JSON pointers below /spec to fields that git does not manage.', ['/spec/regions']),
  'policy.ignore.*': about('A JSON pointer.', '/spec/regions'),
  'policy.protect': about(
    'Whether pharos must never delete or pause the service when its manifest is removed.',
    true,
  ),
  'policy.drift': about('What happens after a manual change of the service; heal when left out.', 'report'),
}
