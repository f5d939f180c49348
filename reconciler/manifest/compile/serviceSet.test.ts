import { expect, test } from 'vitest'
import { formatProblem, sortedProblems } from '../manifestProblem.ts'
import { readYaml } from '../read/readYaml.ts'
import type { ValueSources } from '../values/valueReference.ts'
import type { ServiceSet } from './declaredService.ts'
import { patternCheckFor } from './patterns.ts'
import { compileSet } from './serviceSet.ts'

const sources: ValueSources = {
  env: { TOKEN: 's3cret', EMPTY: '', PHAROS_API_KEY: 'key' },
  secretsDirectory: '/nowhere/secrets',
  rootDirectory: '/nowhere',
  allowInlineSecrets: false,
  secrets: 'required',
}

function compile(
  files: Readonly<Record<string, string>>,
  change: Partial<ValueSources> = {},
  environment?: string,
) {
  const read = Object.entries(files).map(([file, text]) =>
    readYaml({ file, text, directory: file.split('/').slice(0, -1).join('/') }),
  )
  const set = compileSet(
    read.flatMap((one) => one.documents),
    { ...sources, ...change, unread: read.flatMap((one) => one.problems) },
    environment,
  )
  const problems = sortedProblems([...read.flatMap((one) => one.problems), ...set.problems])
  return { set, problems: problems.map(formatProblem) }
}

/** A valid Service whose spec starts on line 4; `more` goes below `spec:`, indented by two. */
function manifest(more = '', name = 'shop'): string {
  return `apiVersion: pharos/v1
kind: Service
metadata: {name: ${name}}
spec:
  interval: 30s
  regions: [eu-west-1]
  endpoints:
    - url: https://example.com/
${more}`
}

/** Defaults that say of every endpoint that no assertion is wanted. */
const NO_ASSERTIONS = `apiVersion: pharos/v1
kind: Defaults
spec: {endpointsDefaults: {assertions: []}}
`

function requestOf(set: ServiceSet) {
  return set.services[0]?.request
}

test('a manifest compiles to an API request', () => {
  const { set, problems } = compile({
    'a.yaml': manifest(`      name: health
      method: POST
      timeout: 1.5s
      maxRedirects: 3
      withDns: true
      headers:
        Accept: text/html
        Authorization: {env: TOKEN, prefix: "Bearer "}
      body: ping
      assertions:
        - status: 2xx
        - latency: {total: "< 500ms"}
        - dns: "<= 50ms"
        - header: {name: content-type, contains: json}
        - body: {regex: "^ok"}
        - raw: {StatusCode: {expected: {GreaterOrEqual: 200}}}
`),
  })

  expect(problems).toEqual([])
  expect(requestOf(set)).toEqual({
    name: 'shop',
    interval_secs: 30,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        name: 'health',
        call: {
          Http: {
            method: 'POST',
            timeout: { secs: 1, nanos: 500_000_000 },
            headers: {
              Accept: { value: 'text/html' },
              Authorization: { value: 'Bearer s3cret', sensitive: true },
            },
            body: { value: 'ping' },
            max_redirects_to_follow: 3,
            with_dns: true,
          },
        },
        assertions: [
          { StatusCode: { expected: { Between: [200, 299] } } },
          { Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 0, nanos: 500_000_000 } } } },
          { DnsResoltion: { expected: { LessOrEqual: { secs: 0, nanos: 50_000_000 } } } },
          { Header: { name: 'content-type', matcher: { Contains: 'json' } } },
          { Body: { matcher: { Regex: '^ok' } } },
          { StatusCode: { expected: { GreaterOrEqual: 200 } } },
        ],
      },
    ],
  })
})

test.each([
  ['      timeout: 90s\n', 'a.yaml:9:16: [E_VALUE] spec.endpoints[0].timeout must be at most 60 seconds'],
  [
    '      name: "a\\u202eb"\n',
    'a.yaml:9:14: [E_VALUE] spec.endpoints[0].name must not contain the direction control U+202E (character 2)',
  ],
  ['      name: "\\u200b"\n', 'a.yaml:9:14: [E_VALUE] spec.endpoints[0].name must have a visible character'],
  [
    '      timeout: 5\n',
    'a.yaml:9:16: [E_VALUE] spec.endpoints[0].timeout must be a duration such as 500ms, 30s or 1m30s (add a unit: 30 becomes 30s)',
  ],
  [
    '      headers: {X-Version: 1.0}\n',
    'a.yaml:9:28: [E_VALUE] spec.endpoints[0].headers.X-Version must be a string, { env: NAME } or { file: PATH } (YAML reads this as a number, a boolean or null: quote it)',
  ],
  [
    '      withDns: yes\n',
    'a.yaml:9:16: [E_VALUE] spec.endpoints[0].withDns must be true or false (YAML 1.2 has only true and false, without quotes: yes, no, on and off are strings)',
  ],
  [
    '      max_redirects: 3\n',
    'a.yaml:9:7: [E_UNKNOWN_FIELD] spec.endpoints[0].max_redirects is not a known field (did you mean maxRedirects?)',
  ],
  [
    '      protect: true\n',
    'a.yaml:9:7: [E_UNKNOWN_FIELD] spec.endpoints[0].protect is not a known field (it belongs to policy)',
  ],
  [
    '  <<: {paused: true}\n',
    'a.yaml:9:3: [E_UNKNOWN_FIELD] spec.<< is not a known field (merge keys are not supported: share values with a kind: Defaults document)',
  ],
  [
    '  __proto__: {paused: true}\n',
    'a.yaml:9:3: [E_UNKNOWN_FIELD] spec.__proto__ is not a known field (this name is reserved, even for headers)',
  ],
  [
    '  regions: [us-east-1]\n',
    'a.yaml:9:3: [E_DUP_FIELD] regions is already set in this mapping (keep one of the two)',
  ],
  [
    '      assertions: [{latency: {total: "500ms"}}]\n',
    'a.yaml:9:39: [E_VALUE] spec.endpoints[0].assertions[0].latency.total must be a comparison such as "< 500ms", "<= 1s" or "100ms..500ms"',
  ],
  [
    '      assertions: [{statuss: 200}]\n',
    'a.yaml:9:20: [E_VALUE] spec.endpoints[0].assertions[0] must have exactly one of the keys status, latency, dns, header, body, raw (did you mean status?)',
  ],
  [
    '      headers: {Authorization: {env: ABSENT}}\n',
    'a.yaml:9:32: [E_SECRET] spec.endpoints[0].headers.Authorization refers to the environment variable ABSENT, which is not set (export ABSENT)',
  ],
  [
    '      headers: {Authorization: {env: EMPTY}}\n',
    'a.yaml:9:32: [E_SECRET] spec.endpoints[0].headers.Authorization refers to the environment variable EMPTY, which is empty (give it a value, or set allowEmpty: true)',
  ],
  [
    '      headers: {X-A: {env: PHAROS_API_KEY}}\n',
    'a.yaml:9:22: [E_SECRET] spec.endpoints[0].headers.X-A must not refer to PHAROS_API_KEY: variables of Pharos are not available to manifests (put the secret into a variable with another name)',
  ],
  [
    '      headers: {X-A: {value: x, sensitive: true}}\n',
    'a.yaml:9:22: [E_INLINE_SECRET] spec.endpoints[0].headers.X-A must not contain a secret: every reader of the repository would see it (refer to it as { env: NAME } or { file: /run/secrets/NAME })',
  ],
  [
    '      headers: {X-A: {file: /etc/passwd}}\n',
    'a.yaml:9:22: [E_SECRET] spec.endpoints[0].headers.X-A refers to a file outside the secrets folder /nowhere/secrets (move the secret there, or name its folder with --secrets-dir; a file of the repository starts with ./)',
  ],
  [
    '      body: {file: ../../etc/passwd}\n',
    'a.yaml:9:13: [E_FILE] spec.endpoints[0].body refers to a file outside the folder of the manifests (put the file below that folder)',
  ],
  [
    '      body: &x a\n      name: *x\n',
    'a.yaml:10:13: [E_ALIAS] aliases are not supported (share values with a kind: Defaults document)',
  ],
  [
    '\ttimeout: 5s\n',
    'a.yaml:9:1: [E_YAML] tab characters must not be used in indentation (indent with spaces)',
  ],
])('a problem is reported with its place and advice (%#)', (more, problem) => {
  const { set, problems } = compile({ 'a.yaml': manifest(more) })

  expect(problems).toEqual([problem])
  expect(set.services).toEqual([])
})

test('all problems of all files are reported at once, and valid manifests are used', () => {
  const { set, problems } = compile({
    'a.yaml': manifest('      timeout: 5\n      colour: red\n', 'a'),
    'b.yaml': 'a: [\n',
    'c.yaml': manifest('', 'c'),
    'd.yaml': '# nothing here\n',
  })

  expect(problems.map((text) => text.split(' ', 2).join(' '))).toEqual([
    'a.yaml:9:16: [E_VALUE]',
    'a.yaml:10:7: [E_UNKNOWN_FIELD]',
    'b.yaml:1:4: [E_YAML]',
  ])
  expect(set.services.map((service) => service.key)).toEqual(['c'])
  expect(set.frozenKeys).toEqual(['a'])
})

test('a mapping that is written twice is one problem, whichever of the two has the required fields', () => {
  const { problems } = compile({
    'pharos.yaml': `apiVersion: pharos/v1
kind: Defaults
spec: {interval: 30s}
spec: {regions: [eu-west-1]}
`,
    'a.yaml': `${manifest('', 'a')}metadata: {labels: {team: shop}}
spec: {paused: 1}
`,
    'b.yaml': manifest('', 'b').replace(/ {2}interval.*\n.*\n/, ''),
  })

  expect(problems).toEqual([
    'a.yaml:9:1: [E_DUP_FIELD] metadata is already set in this mapping (keep one of the two)',
    'a.yaml:10:1: [E_DUP_FIELD] spec is already set in this mapping (keep one of the two)',
    'a.yaml:10:16: [E_VALUE] spec.paused must be true or false',
    'pharos.yaml:4:1: [E_DUP_FIELD] spec is already set in this mapping (keep one of the two)',
  ])
})

test('a field that is missing elsewhere is reported together with a repeated one', () => {
  const { problems } = compile({
    'a.yaml': manifest('      timeout: 1s\n      timeout: 2s\n').replace(/ {2}interval.*\n/, ''),
  })

  expect(problems).toEqual([
    expect.stringContaining('a.yaml:4:1: [E_REQUIRED] spec.interval is required'),
    'a.yaml:9:7: [E_DUP_FIELD] timeout is already set in this mapping (keep one of the two)',
  ])
})

const DEFAULTS = `apiVersion: pharos/v1
kind: Defaults
spec: {interval: 60s, endpointsDefaults: {assertions: [{status: 200}]}}
`

test.each([
  ['that are not YAML', { 'eu/defaults.yaml': `${DEFAULTS}policy: [` }, 'E_YAML'],
  ['with an alias', { 'eu/defaults.yaml': `${DEFAULTS}policy: *x\n` }, 'E_ALIAS'],
  ['beside a broken document', { 'eu/defaults.yaml': `${DEFAULTS}---\na: [` }, 'E_YAML'],
  [
    'with a misspelt field',
    { 'eu/defaults.yaml': `${DEFAULTS}policyy: {onDelete: pause}\n` },
    'E_UNKNOWN_FIELD',
  ],
  ['of a misspelt kind', { 'eu/defaults.yaml': DEFAULTS.replace('Defaults', 'Default') }, 'E_KIND'],
  ['without a kind', { 'eu/defaults.yaml': DEFAULTS.replace('kind: Defaults\n', '') }, 'E_KIND'],
  ['of a kind in capitals', { 'eu/defaults.yaml': DEFAULTS.replace('kind', 'Kind') }, 'E_KIND'],
  ['in a list', { 'eu/defaults.yaml': `- ${DEFAULTS.trim().replaceAll('\n', '\n  ')}\n` }, 'E_KIND'],
  [
    'in a list of another format',
    { 'eu/list.yaml': `{kind: List, items: [{kind: Defaults}]}` },
    'E_API_VERSION',
  ],
  ['without blanks', { 'eu/defaults.yaml': 'apiVersion:pharos/v1\nkind:Defaults\n' }, 'E_KIND'],
  ['that are neither YAML nor spelt well', { 'eu/defaults.yaml': 'Kind: Default\nspec: [' }, 'E_YAML'],
  ['of another version', { 'eu/defaults.yaml': DEFAULTS.replace('/v1', '/v2') }, 'E_API_VERSION'],
  [
    'of which a folder has two',
    { 'eu/defaults.yaml': DEFAULTS, 'eu/more.yaml': DEFAULTS.replace('200', '201') },
    'E_DUP_DEFAULTS',
  ],
])('services are not compiled without their Defaults, such as those %s', (_, files, code) => {
  const { set, problems } = compile({
    ...files,
    'a.yaml': manifest('', 'a'),
    'eu/b.yaml': manifest('', 'b'),
    'eu/west/c.yaml': manifest('', 'c').replace(/ {2}interval.*\n/, ''),
  })

  expect(problems.map((text) => text.split(' ')[1])).toEqual(Object.keys(files).map(() => `[${code}]`))
  expect(set.services.map(({ key }) => key)).toEqual(['a'])
  expect(set.frozenKeys).toEqual(['b', 'c'])
})

test('services are not compiled with one of two Environments of the same name', () => {
  const environment = (host: string): string =>
    `apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: staging}\nspec: {vars: {host: ${host}}}\n`
  const { set } = compile(
    { 'a.yaml': manifest(), 'b.yaml': environment('one'), 'c.yaml': environment('two') },
    {},
    'staging',
  )

  expect([set.services, set.frozenKeys]).toEqual([[], ['shop']])
})

test('a field of the wrong type does not hide an invalid value of another one', () => {
  const { problems } = compile({
    'a.yaml': manifest(`      timeout: 5
      assertions: [{status: 200}, {statuss: 200}]
    - url: ftp://example.com/
      timeout: 90s
`),
  })

  expect(problems).toEqual([
    expect.stringContaining('a.yaml:9:16: [E_VALUE] spec.endpoints[0].timeout must be a duration'),
    expect.stringContaining('a.yaml:10:35: [E_VALUE] spec.endpoints[0].assertions[1] must'),
    expect.stringContaining('a.yaml:11:12: [E_VALUE] spec.endpoints[1].url must'),
    expect.stringContaining('a.yaml:12:16: [E_VALUE] spec.endpoints[1].timeout must be at most 60 seconds'),
  ])

  const required = manifest('      timeout: 90s\n').replace('interval: 30s', 'interval: 30')
  expect(compile({ 'a.yaml': required.replace('https://example.com/', '5') }).problems).toEqual([
    expect.stringContaining('a.yaml:5:13: [E_VALUE] spec.interval must be whole seconds'),
    expect.stringContaining('a.yaml:8:12: [E_VALUE] spec.endpoints[0].url must be a string'),
    expect.stringContaining('a.yaml:9:16: [E_VALUE] spec.endpoints[0].timeout must be at most 60 seconds'),
  ])
})

test('Scenario 3: two manifests with one name are reported with both places, and neither is used', () => {
  const { set, problems } = compile({ 'a.yaml': manifest(), 'b.yaml': manifest() })

  expect(problems).toEqual([
    'a.yaml:3:18: [E_DUP_KEY] metadata.name is used twice: also at b.yaml:3:18 (rename one of the two)',
    'b.yaml:3:18: [E_DUP_KEY] metadata.name is used twice: also at a.yaml:3:18 (rename one of the two)',
  ])
  expect([set.services, set.frozenKeys]).toEqual([[], ['shop']])
})

test('Scenario 4: the same spec.name in two manifests is allowed, with a warning', () => {
  const named = (name: string) => manifest('  name: Shop\n', name)
  const { set, problems } = compile({
    'a.yaml': named('a'),
    'b.yaml': named('b'),
    'd.yaml': NO_ASSERTIONS,
  })

  expect(problems).toEqual([])
  expect(set.warnings.map(formatProblem)).toEqual([
    expect.stringContaining('b.yaml:9:9: [W_SAME_NAME] b and a have the same spec.name'),
  ])
})

test('Defaults apply to their folder and below, the nearest wins, and null removes a value', () => {
  const defaults = (spec: string) => `apiVersion: pharos/v1\nkind: Defaults\nspec: ${spec}\n`
  const { set, problems } = compile({
    'defaults.yaml': defaults('{endpointsDefaults: {timeout: 5s, withDns: true, headers: {A: one, B: two}}}'),
    'eu/defaults.yaml': defaults('{endpointsDefaults: {timeout: 7s, headers: {B: three}}}'),
    'eu/a.yaml': manifest('      withDns: null\n'),
  })

  expect(problems).toEqual([])
  expect(requestOf(set)?.endpoints[0]?.call.Http).toEqual({
    method: 'GET',
    timeout: { secs: 7, nanos: 0 },
    headers: { A: { value: 'one' }, B: { value: 'three' } },
  })
})

test('a problem in Defaults is reported once, at its place, and blocks changes of the services below', () => {
  const { set, problems } = compile({
    'defaults.yaml': 'apiVersion: pharos/v1\nkind: Defaults\nspec:\n  endpointsDefaults: {timeout: 90s}\n',
    'a.yaml': manifest('', 'a'),
    'b.yaml': manifest('', 'b'),
  })

  expect(problems).toEqual([
    'defaults.yaml:4:32: [E_VALUE] spec.endpointsDefaults.timeout must be at most 60 seconds',
  ])
  expect(set.frozenKeys).toEqual(['a', 'b'])
})

test('Scenario 8: places are correct after a byte order mark, CRLF and characters outside the basic plane', () => {
  const text = `\uFEFF${manifest('      name: 🦉\n      timeout: 5\n')}`.replaceAll('\n', '\r\n')
  expect(compile({ 'a.yaml': text }).problems.map((problem) => problem.split(': ', 1)[0])).toEqual([
    'a.yaml:10:16',
  ])
  const first = compile({ 'a.yaml': '\uFEFFkind: Servic\r\napiVersion: pharos/v1\r\n' })
  expect(first.problems).toEqual([
    'a.yaml:1:7: [E_KIND] kind must be one of Service, Defaults, Environment (did you mean Service?)',
  ])
})

test('an unavailable secret is no problem when only the manifests are checked', () => {
  const { problems } = compile(
    { 'a.yaml': manifest('      headers: {Authorization: {env: ABSENT}}\n') },
    { secrets: 'optional' },
  )
  expect(problems).toEqual([])
})

test('no message contains a value that may be a secret', () => {
  const { problems } = compile({
    'a.yaml': manifest(
      '      headers: {A: {value: canary-5d1f, sensitive: true}, B: [canary-5d1f]}\n      body: {valeu: canary-5d1f}\n',
    ),
  })
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.join('\n')).not.toContain('canary')
})

const environments = `apiVersion: pharos/v1
kind: Environment
metadata: {name: staging}
spec:
  vars: {host: staging.example.com, hold: true, slow: 5}
  patches:
    - target: {name: shop}
      patch: {spec: {interval: 5m}, policy: {drift: report}}
    - target: {labels: {team: other}}
      patch: {spec: {interval: 9m}}
---
apiVersion: pharos/v1
kind: Environment
metadata: {name: broken}
spec:
  patches:
    - target: {}
      patch: {spec: {interval: 5}}
`
test('an Environment provides patches, and variables that keep their type', () => {
  const text = manifest(`      body: "$\${var.host} \${var.none:-x}"\n  paused: \${var.hold}\n`).replace(
    'example.com',
    `\${var.host}`,
  )
  const { set, problems } = compile({ 'a.yaml': text, 'env.yaml': environments }, {}, 'staging')

  expect(problems).toEqual([])
  expect(set.services[0]).toMatchObject({ paused: true, policy: { drift: 'report' } })
  expect(requestOf(set)).toMatchObject({
    interval_secs: 300,
    endpoints: [
      { url: 'https://staging.example.com/', call: { Http: { body: { value: `\${var.host} x` } } } },
    ],
  })
})

const STAGING = `apiVersion: pharos/v1
kind: Environment
metadata: {name: staging}
spec:
`

test.each([
  ['a name with a dash', `\${var.api-host}`],
  ['one colon', `\${var.host:b}`],
  ['blanks', `\${var. host}`],
  ['no end', `\${var.host:-b`],
])('a reference to a variable with %s is an error, and is never sent as text', (_, reference) => {
  const { set, problems } = compile({ 'a.yaml': manifest(`      name: "${reference}"\n`) })
  expect(problems).toEqual([
    expect.stringContaining('a.yaml:9:14: [E_VARIABLE] spec.endpoints[0].name has "${var."'),
  ])
  expect(set.services).toEqual([])
})

test('an escaped reference is literal text, and a misspelt one gets a suggestion', () => {
  const environment = `${STAGING}  vars: {api_host: example.com}\n`
  const literal = compile({
    'a.yaml': manifest(`      name: "$\${var.a:-b} $$\${var.x"\n`),
    'e.yaml': environment,
  })
  expect(requestOf(literal.set)?.endpoints[0]?.name).toBe(`\${var.a:-b} $\${var.x`)
  const misspelt = compile(
    { 'a.yaml': manifest(`      name: "\${var.apihost}"\n`), 'e.yaml': environment },
    {},
    'staging',
  )
  expect(misspelt.problems).toEqual([expect.stringContaining('(did you mean api_host?)')])
})

/** Every path of `value`, the root last. */
function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inner = Object.entries(value).flatMap(([key, item]) => pathsOf(item).map((path) => [key, ...path]))
  return [...inner, []]
}

/** `value` with `wrong` at `path`. */
function replacedAt(value: unknown, [key, ...rest]: readonly string[], wrong: unknown): unknown {
  if (key === undefined) return wrong
  const [inner] = Object.entries(Object(value)).flatMap(([name, item]) => (name === key ? [item] : []))
  const replaced = replacedAt(inner, rest, wrong)
  return Array.isArray(value)
    ? value.map((item, index) => (String(index) === key ? replaced : item))
    : { ...Object(value), [key]: replaced }
}

test('a value of a wrong type is reported in plain words, whatever the field', () => {
  const text = `
apiVersion: pharos/v1
kind: Service
metadata: {name: shop, labels: {team: a}, previousNames: [b]}
spec:
  name: A
  interval: 30s
  regions: [a]
  endpoints:
    - url: https://a.example
      name: a
      method: GET
      timeout: 5s
      maxRedirects: 3
      withDns: true
      headers: {env: {env: TOKEN, prefix: a}, file: {file: /x}, clear: {value: a, sensitive: true}}
      assertions: [{status: 200}, {latency: {total: < 1s}}, {header: {name: a, contains: b}}]
policy: {onDelete: pause, pruneAfter: 1h, protect: true, drift: heal, ignore: [/spec/regions]}
---
apiVersion: pharos/v1
kind: Defaults
spec: {interval: 1m, paused: true, endpointsDefaults: {timeout: 5s, headers: {a: b}}}
---
apiVersion: pharos/v1
kind: Environment
metadata: {name: a}
spec:
  vars: {a-b: 1}
  patches: [{target: {name: shop, labels: {team: a}}, patch: {spec: {interval: 1m}}}]
`
  const documents = readYaml({ file: 'a.yaml', directory: '', text }).documents.map(({ value }) => value)

  const messages = documents.flatMap((document) =>
    pathsOf(document).flatMap((path) =>
      [7, [null]].flatMap(
        (wrong) => compile({ 'a.yaml': JSON.stringify(replacedAt(document, path, wrong)) }).problems,
      ),
    ),
  )

  expect(
    messages.filter((text) =>
      /Invalid|expected \w+,|received|must be (?:record|boolean|object)\b/.test(text),
    ),
  ).toEqual([])
  expect(messages).toContainEqual(
    expect.stringContaining('metadata.labels must be a mapping of names to strings'),
  )
  expect(messages).toContainEqual(
    expect.stringContaining('spec.vars.a-b must have a name of letters, digits and "_"'),
  )
})

test('the error of a missing Environment names the file that may have it', () => {
  const environment = 'apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: prod}\n'
  const missing = (text: string) => () => compile({ 'a.yaml': manifest(), 'prod.yaml': text }, {}, 'prod')

  expect(missing(`${environment}spec: {vars: [}\n`)).toThrow(
    '--env prod: there is no document of kind Environment, unless a file with a problem has it: prod.yaml:4:15: [E_YAML]',
  )
  expect(missing(environment.replace('name', 'nam'))).toThrow(
    'unless a file with a problem has it: prod.yaml:3:1: [E_REQUIRED] metadata.name is required',
  )
  expect(missing(environment.replace('kind: Environment', 'kind: Enviroment'))).toThrow(
    'unless a file with a problem has it: prod.yaml:2:7: [E_KIND]',
  )
  expect(missing(`${environment.replace('prod', 'dev')}---\na: 1\n`)).toThrow(
    '--env prod: there is no Environment of that name (there are dev), unless a file with a problem has it: prod.yaml:5:1: [E_API_VERSION]',
  )
})

test('variables of an invalid Environment are not reported as missing', () => {
  const { set, problems } = compile(
    {
      'a.yaml': manifest(`      name: "\${var.host}"\n`),
      'e.yaml': `${STAGING}  vars: {host: a, list: [b]}\n`,
    },
    {},
    'staging',
  )
  expect(problems).toEqual([expect.stringContaining('e.yaml:5:25: [E_VALUE] spec.vars.list')])
  expect(set.frozenKeys).toEqual(['shop'])
})

test.each([undefined, 'staging'])(
  'an unknown field of a patch is reported once (--env %s)',
  (environment) => {
    const patches = `${STAGING}  patches:
    - {target: {name: shop}, patch: {spec: {intervall: 5m}, policy: {url: x}}}
`
    const { problems } = compile({ 'a.yaml': manifest(), 'e.yaml': patches }, {}, environment)
    expect(problems).toEqual([
      'e.yaml:6:45: [E_UNKNOWN_FIELD] spec.patches[0].patch.spec.intervall is not a known field (did you mean interval?)',
      'e.yaml:6:70: [E_UNKNOWN_FIELD] spec.patches[0].patch.policy.url is not a known field (it belongs to an endpoint)',
    ])
  },
)

test('a patch that matches no service is a warning at its target, whichever Environment is chosen', () => {
  const patches = `${STAGING}  patches:
    - {target: {name: shop}, patch: {}}
    - {target: {name: shopp}, patch: {}}
    - {target: {labels: {team: a}}, patch: {}}
    - {target: {}, patch: {}}
`
  const { set, problems } = compile({ 'a.yaml': manifest(), 'd.yaml': NO_ASSERTIONS, 'e.yaml': patches })
  expect(problems).toEqual([])
  expect(set.warnings.map(formatProblem)).toEqual([
    expect.stringContaining('e.yaml:7:16: [W_PATCH_TARGET] spec.patches[1].target matches no service'),
    expect.stringContaining('e.yaml:8:16: [W_PATCH_TARGET] spec.patches[2].target matches no service'),
  ])
})

test('Defaults apply to endpoints that a patch adds, and a patch merges endpoints by name', () => {
  const endpoints = `      name: page
      timeout: 5s
      headers: {A: a, B: b}
    - url: https://example.com/health
      name: health
`
  const defaults = `apiVersion: pharos/v1
kind: Defaults
spec: {endpointsDefaults: {timeout: 10s, withDns: true, assertions: [{status: 2xx}]}}
`
  const patched = (patch: string) => {
    const environment = `${STAGING}  patches: [{target: {name: shop}, patch: {spec: {endpoints: ${patch}}}}]\n`
    const files = { 'a.yaml': manifest(endpoints), 'd.yaml': defaults, 'e.yaml': environment }
    const { set, problems } = compile(files, {}, 'staging')
    return { problems, warnings: set.warnings.map(formatProblem), endpoints: requestOf(set)?.endpoints }
  }
  const success = [{ StatusCode: { expected: { Between: [200, 299] } } }]

  expect(patched('[{url: "https://staging.example.com/"}]')).toEqual({
    problems: [],
    warnings: [],
    endpoints: [
      {
        url: 'https://staging.example.com/',
        call: { Http: { method: 'GET', timeout: { secs: 10, nanos: 0 }, with_dns: true } },
        assertions: success,
      },
    ],
  })
  expect(
    patched('[{name: page, timeout: null, headers: {B: c}}, {name: new, url: "https://c.example/"}]'),
  ).toMatchObject({
    problems: [],
    endpoints: [
      {
        name: 'page',
        url: 'https://example.com/',
        call: { Http: { timeout: null, headers: { A: { value: 'a' }, B: { value: 'c' } } } },
        assertions: success,
      },
      { name: 'health', url: 'https://example.com/health', assertions: success },
      { name: 'new', url: 'https://c.example/', call: { Http: { timeout: { secs: 10 } } } },
    ],
  })
})

test('null in a patch removes a header, even one of Defaults', () => {
  const defaults =
    'apiVersion: pharos/v1\nkind: Defaults\nspec: {endpointsDefaults: {headers: {A: a, B: b}}}\n'
  const headersAfter = (patch: string) => {
    const environment = `${STAGING}  patches: [{target: {name: shop}, patch: {spec: {endpoints: ${patch}}}}]\n`
    const files = {
      'a.yaml': manifest('      name: page\n      headers: {C: c}\n'),
      'd.yaml': defaults,
      'e.yaml': environment,
    }
    const { set, problems } = compile(files, {}, 'staging')
    const [endpoint] = requestOf(set)?.endpoints ?? []
    return { problems, headers: endpoint?.call?.Http?.headers }
  }

  expect(headersAfter('[{name: page, headers: {A: null, C: null}}]')).toEqual({
    problems: [],
    headers: { B: { value: 'b' } },
  })
  expect(headersAfter('[{url: "https://b.example/", headers: {A: null}}]')).toEqual({
    problems: [],
    headers: { B: { value: 'b' } },
  })
})

test('an error in an endpoint of a patch is reported in the patch, whatever its index in the service', () => {
  const endpoints = `      name: page
    - url: https://example.com/health
      name: health
`
  const faults = (...patches: readonly string[]) => {
    const list = patches.map((patch) => `{target: {name: shop}, patch: {spec: {endpoints: ${patch}}}}`)
    const environment = `${STAGING}  patches:\n${list.map((one) => `    - ${one}\n`).join('')}`
    return compile({ 'a.yaml': manifest(endpoints), 'e.yaml': environment }, {}, 'staging').problems
  }

  expect(faults('[{name: health, timeout: 5}]')).toEqual([
    expect.stringMatching(
      /^e\.yaml:6:\d+: \[E_VALUE\] spec\.patches\[0\]\.patch\.spec\.endpoints\[0\]\.timeout must be/,
    ),
  ])
  expect(faults('[{name: health, method: POST}]', '[{name: page, timeout: 5}]')).toEqual([
    expect.stringMatching(
      /^e\.yaml:7:\d+: \[E_VALUE\] spec\.patches\[1\]\.patch\.spec\.endpoints\[0\]\.timeout must be/,
    ),
  ])
  expect(faults('[{name: paeg, timeout: 5s}]', '[{name: paeg, method: POST}]')).toEqual([
    expect.stringMatching(/^e\.yaml:6:\d+: \[E_REQUIRED\] spec\.endpoints\[\d\]\.url is required/),
  ])
  expect(faults('[{timeout: 5s}]')).toEqual([
    expect.stringMatching(/^e\.yaml:6:\d+: \[E_REQUIRED\] spec\.endpoints\[0\]\.url is required/),
  ])
})

test('an endpoint without assertions is a warning at its place, and [] confirms that there are none', () => {
  const { set } = compile({ 'a.yaml': manifest('    - url: https://b.example/\n      assertions: []\n') })

  expect(set.warnings.map(formatProblem)).toEqual([
    'a.yaml:8:7: [W_NO_ASSERTIONS] spec.endpoints[0] has no assertions: any response with a status below 400 counts as up (add "assertions: [{status: 2xx}]" here or to endpointsDefaults; "assertions: []" confirms that there are none)',
  ])
})

test('Scenario 15: an undefined variable is an error at its place, and an error in a patch is reported in the patch', () => {
  expect(compile({ 'a.yaml': manifest(`      name: \${var.nope}\n`) }).problems).toEqual([
    `a.yaml:9:13: [E_VARIABLE] spec.endpoints[0].name refers to the variable nope, which is not defined (define it under spec.vars of the Environment that --env names, or give \${var.nope:-default})`,
  ])
  expect(compile({ 'a.yaml': manifest(), 'env.yaml': environments }, {}, 'broken').problems).toEqual([
    'env.yaml:18:32: [E_VALUE] spec.patches[0].patch.spec.interval must be whole seconds, such as 30s or 5m, and at most 2147483647s (add a unit: 30 becomes 30s)',
  ])
  expect(() => compile({ 'env.yaml': environments }, {}, 'stagin')).toThrow('did you mean staging?')
})

test.each([
  ['a header', manifest('      headers: {__proto__: evil}\n'), '9:17', 'spec.endpoints[0].headers.__proto__'],
  ['a field', manifest('  __proto__: {interval: 1s}\n'), '9:3', 'spec.__proto__'],
  [
    'a header of Defaults',
    'apiVersion: pharos/v1\nkind: Defaults\nspec:\n  endpointsDefaults:\n    headers:\n      "__proto__": evil\n',
    '6:8',
    'spec.endpointsDefaults.headers.__proto__',
  ],
])(
  'Scenario 7: %s named __proto__ is reported at its place, and its documents are not used',
  (_, text, at, path) => {
    const { set, problems } = compile({ 'a.yaml': text, 'b.yaml': manifest('', 'other') })

    expect(problems).toEqual(
      expect.arrayContaining([
        `a.yaml:${at}: [E_UNKNOWN_FIELD] ${path} is not a known field (this name is reserved, even for headers)`,
      ]),
    )
    const used = text.includes('Defaults') ? [] : ['other']
    expect(set.services.map(({ key }) => key)).toEqual(used)
  },
)

test.each([
  [
    'a list at the end of the file',
    manifest('').replace('[eu-west-1]', '[eu-west-1').split('  endpoints')[0],
    '6:12',
    '[',
  ],
  ['a list before other fields', manifest('').replace('[eu-west-1]', '[eu-west-1'), '6:12', '['],
  ['a mapping', manifest('').replace('{name: shop}', '{name: shop'), '3:11', '{'],
  ['a mapping in a list', 'a: [1, "x", {b: [2], c: \'y\'}, {d: 3, ', '1:4', '['],
  ['a text', manifest('  name: "Shop\n'), '9:9', '"'],
  ['a text in a mapping', "a: {b: 'c}\n", '1:8', "'"],
  ['a text between texts', 'a: "x"\nb: it\'s\nc: "y\n', '3:4', '"'],
])('%s that is never closed is reported at its start', (_, text = '', at, opener) => {
  const { problems } = compile({ 'a.yaml': text })

  expect(problems).toEqual([expect.stringMatching(/^a\.yaml:/)])
  expect(problems[0]).toContain(`a.yaml:${at}: [E_YAML] this ${opener} is not closed (close it with`)
})

test('a list whose closing bracket is not indented is reported at its start, with the line of the bracket', () => {
  const { problems } = compile({ 'a.yaml': manifest('').replace('[eu-west-1]', '[\n    eu-west-1\n  ]') })

  expect(problems).toEqual([
    'a.yaml:6:12: [E_YAML] the ] that closes this [ is not indented (indent line 8 more than the key of this [)',
  ])
})

test('a header that looks like a secret in clear text is a warning at its place, without its value', () => {
  const defaults = `apiVersion: pharos/v1
kind: Defaults
spec:
  endpointsDefaults:
    headers: {X-Api-Key: canary}
    assertions: []
`
  const headers = `      headers:
        Authorization: "Bearer canary"
        Cookie: {value: canary}
        X-Auth-Token: {env: TOKEN}
        Accept: text/html
`
  const { set, problems } = compile({ 'a.yaml': manifest(headers), 'defaults.yaml': defaults })

  const rest =
    'looks like a secret, but is sent and stored in clear (refer to it as { env: NAME } or { file: /run/secrets/NAME })'
  expect([problems, set.services.length]).toEqual([[], 1])
  expect(set.warnings.map(formatProblem)).toEqual([
    `a.yaml:10:25: [W_CLEAR_SECRET] spec.endpoints[0].headers.Authorization ${rest}`,
    `a.yaml:11:17: [W_CLEAR_SECRET] spec.endpoints[0].headers.Cookie ${rest}`,
    `defaults.yaml:5:26: [W_CLEAR_SECRET] spec.endpointsDefaults.headers.X-Api-Key ${rest}`,
  ])
})

test('a regular expression that RE2 cannot compile is reported at its place', async () => {
  const text = manifest(`      assertions:
        - body: {regex: "("}
        - header: {name: x, regex: 'a(?=b)'}
        - raw: {Body: {matcher: {Regex: '(a)\\1'}}}
        - body: {regex: "^ok$"}
        - body: {contains: "("}
`)
  const { documents } = readYaml({ file: 'a.yaml', directory: '', text })

  const set = compileSet(documents, { ...sources, isPattern: await patternCheckFor(documents) })

  const rest =
    'is not a valid RE2 regular expression (RE2 has no look-around, no back-references, and at most 1000 repetitions)'
  expect(set.services).toEqual([])
  expect(set.problems.map(formatProblem)).toEqual([
    `a.yaml:10:26: [E_VALUE] spec.endpoints[0].assertions[0].body.regex ${rest}`,
    `a.yaml:11:37: [E_VALUE] spec.endpoints[0].assertions[1].header.regex ${rest}`,
    `a.yaml:12:42: [E_VALUE] spec.endpoints[0].assertions[2].raw.Body.matcher.Regex ${rest}`,
  ])
})

test('without a regular expression the RE2 library is not loaded', async () => {
  const { documents } = readYaml({ file: 'a.yaml', directory: '', text: manifest() })
  expect(await patternCheckFor(documents)).toBeUndefined()
})
