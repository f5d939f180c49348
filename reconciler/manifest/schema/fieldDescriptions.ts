/** What an editor shows of a field. */
export interface FieldDescription {
  readonly description: string
  readonly examples?: readonly unknown[]
}

const about = (description: string, ...examples: readonly unknown[]): FieldDescription =>
  examples.length === 0 ? { description } : { description, examples }

const MATCH = 'Exactly one of equals, contains, startsWith, endsWith and regex.'

/**
 * What each field of a manifest is, by the names that lead to it; lists add nothing to a path, `*` stands for
 * any key. A path with a kind in front wins. What stands below `raw` is the API's own and described there.
 */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, FieldDescription>> = {
  apiVersion: about('Version of the format.', 'pharos/v1'),
  kind: about(
    'Service: one monitored service. Defaults: what the services of this folder and below share. Environment: variables and patches that hold with --env.',
  ),
  metadata: about('What the document is called. Never sent.'),
  'metadata.name': about(
    'What the service is remembered by in the state: keep it, whatever the API shows. To change it, put the old one into previousNames.',
    'checkout-api',
  ),
  'Environment.metadata.name': about('What --env names.', 'staging', 'production'),
  'metadata.labels': about('For you: patches of an Environment choose services by them. Never sent.', {
    team: 'payments',
  }),
  'metadata.labels.*': about('Value of the label.'),
  'metadata.id': about(
    'Id of a service that exists already and that this manifest takes over.',
    '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
  ),
  'metadata.previousNames': about('Earlier values of metadata.name: the service is kept.', ['checkout']),
  spec: about('How the service is monitored.'),
  'Defaults.spec': about('What the services of this folder and below have unless they say otherwise.'),
  'Environment.spec': about('What changes when --env chooses this Environment.'),
  'spec.name': about('What the API shows; metadata.name when left out.', 'Checkout API'),
  'spec.interval': about('Time between two checks, in whole seconds.', '30s', '5m'),
  'spec.regions': about('Codes of the regions to check from, as GET /v1/regions lists them.', ['eu-west-1']),
  'spec.paused': about('true or false keeps the service that way; left out, pausing is up to people.', true),
  'spec.endpoints': about('What is called at every check.'),
  'spec.endpointsDefaults': about('What every endpoint has unless it says otherwise.'),
  'spec.endpoints.url': about('Where to, http or https.', 'https://checkout.example.com/health'),
  'spec.endpoints.name': about('What the API shows of this endpoint.', 'health'),
  'spec.endpoints.method': about('GET when left out.', 'POST'),
  'spec.endpoints.timeout': about("At most 60s; the server's own when left out.", '10s', '500ms'),
  'spec.endpoints.maxRedirects': about("Redirects that are followed; the server's own when left out.", 3),
  'spec.endpoints.withDns': about('Whether the time of name resolution is measured.', true),
  'spec.endpoints.headers': about('Headers by name. A secret is a reference, never a text.', {
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
  prefix: about('Goes before the secret.', 'Bearer '),
  allowEmpty: about('Whether an empty secret is meant; otherwise it is an error.'),
  value: about('The text itself.'),
  sensitive: about('Whether value is a secret: refused unless --allow-inline-secrets is given.'),
  'spec.endpoints.assertions': about('What has to hold of every answer; all of it.', [
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
  'spec.endpoints.assertions.status.not': about('Any status but this.'),
  'spec.endpoints.assertions.status.lt': about('Below this status.'),
  'spec.endpoints.assertions.status.lte': about('This status or below.'),
  'spec.endpoints.assertions.status.gt': about('Above this status.'),
  'spec.endpoints.assertions.status.gte': about('This status or above.'),
  'spec.endpoints.assertions.status.between': about(
    'From the first to the second, both included.',
    [200, 204],
  ),
  'spec.endpoints.assertions.status.oneOf': about('One of these.', [200, 204]),
  'spec.endpoints.assertions.latency': about('Time taken: until the headers, for the body, or in total.', {
    total: '< 500ms',
  }),
  'spec.endpoints.assertions.latency.headers': about('Until the headers were there.', '< 500ms'),
  'spec.endpoints.assertions.latency.body': about('For the body.', '< 500ms'),
  'spec.endpoints.assertions.latency.total': about('In total.', '< 500ms', '10ms..200ms'),
  'spec.endpoints.assertions.dns': about('Time of name resolution.', '<= 50ms'),
  'spec.endpoints.assertions.header': about(`A header of the answer. ${MATCH}`, {
    name: 'content-type',
    contains: 'json',
  }),
  'spec.endpoints.assertions.header.name': about('Name of the header.', 'content-type'),
  'spec.endpoints.assertions.body': about(`The body of the answer. ${MATCH}`, { contains: 'ok' }),
  equals: about('Is exactly this text.'),
  contains: about('Has this text in it.'),
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
  'spec.patches.target': about('Which services: by name, by labels, or all with {}.', { name: 'checkout' }),
  'spec.patches.target.name': about('metadata.name of one service.', 'checkout'),
  'spec.patches.target.labels': about('Labels that a service has to have, all of them.', {
    team: 'payments',
  }),
  'spec.patches.target.labels.*': about('Value of the label.'),
  'spec.patches.patch': about('What changes, in the form of a Service.', { spec: { interval: '5m' } }),
  'spec.patches.patch.spec': about('Changes below spec.', { interval: '5m' }),
  'spec.patches.patch.policy': about('Changes below policy.', { drift: 'report' }),
  policy: about('How pharos may treat the service.'),
  'policy.onDelete': about('What happens when the manifest goes; delete when left out.', 'pause'),
  'policy.pruneAfter': about(
    'How long a service that onDelete: pause paused is kept before it is deleted; for ever when left out.',
    '24h',
  ),
  'policy.ignore': about('JSON pointers below /spec to what git leaves to others.', ['/spec/regions']),
  'policy.ignore.*': about('One such pointer.', '/spec/regions'),
  'policy.protect': about('Whether the service is never removed by pharos.', true),
  'policy.drift': about('What happens after a manual change of the service; heal when left out.', 'report'),
}
