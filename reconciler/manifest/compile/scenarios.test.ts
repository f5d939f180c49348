import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import { formatProblem } from '../manifestProblem.ts'
import { readYaml } from '../read/readYaml.ts'
import type { ValueSources } from '../values/valueReference.ts'
import { compileSet } from './serviceSet.ts'

const sources: ValueSources = {
  env: { TOKEN: 's3cret', EMPTY: '' },
  secretsDirectory: '/nowhere/secrets',
  rootDirectory: '/nowhere',
  allowInlineSecrets: false,
  secrets: 'required',
}

/** What is wrong with a manifest whose endpoint has `more` (from line 9 on), and what it compiles to. */
function compiled(more: string, change: Partial<ValueSources> = {}) {
  const { documents, problems } = readYaml({ file: 'a.yaml', directory: '', text: manifestOf('a', more) })
  const set = compileSet(documents, { ...sources, ...change })
  return {
    problems: [...problems, ...set.problems].map((one) => formatProblem(one).replace(/^a\.yaml:/, '')),
    request: set.services[0]?.request,
    http: set.services[0]?.request.endpoints[0]?.call.Http,
  }
}

test.each([
  [
    'a field',
    '      timeout: 1s\n      timeout: 2s\n',
    '10:7: [E_DUP_FIELD] timeout is already set in this mapping',
  ],
  [
    'a header as number and text',
    '      headers: {1: a, "1": b}\n',
    '9:24: [E_DUP_FIELD] 1 is already set in this mapping',
  ],
])('Scenario 2: %s that is set twice is an error at its second place', (_, more, problem) => {
  const { problems, request } = compiled(more)
  expect([problems, request]).toEqual([[expect.stringContaining(problem)], undefined])
})

test('Scenario 7: fields named like properties of every object are unknown fields, and no prototype is polluted', () => {
  const { problems } = compiled('      constructor: {prototype: {polluted: true}}\n      toString: x\n')
  expect(problems).toEqual([
    expect.stringContaining('9:7: [E_UNKNOWN_FIELD] spec.endpoints[0].constructor is not a known field'),
    expect.stringContaining('10:7: [E_UNKNOWN_FIELD] spec.endpoints[0].toString is not a known field'),
  ])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect(compiled('      headers: {constructor: a, toString: b}\n').http?.headers).toEqual({
    constructor: { value: 'a' },
    toString: { value: 'b' },
  })
})

const NO_STRING =
  'must be a string, { env: NAME } or { file: PATH } (YAML reads this as a number, a boolean or null: quote it)'
const NO_STATUS = 'must be a status code, a class such as "2xx", or a comparison such as { lt: 400 }'

test.each([
  ['no', '      withDns: no\n', '9:16', 'must be true or false'],
  ['1.0', '      headers: {X-A: 1.0}\n', '9:22', NO_STRING],
  ['1e3', '      headers: {X-A: 1e3}\n', '9:22', NO_STRING],
  ['012', '      headers: {X-A: 012}\n', '9:22', NO_STRING],
  ['nothing', '      headers: {X-A: }\n', '9:17', NO_STRING],
  ['20 digits', '      maxRedirects: 12345678901234567890\n', '9:21', 'must be a whole number'],
  ['a half', '      assertions: [{status: 1.5}]\n', '9:29', NO_STATUS],
  [
    'a no-break space',
    '      timeout:\u00a05s\n',
    '9:18',
    'a blank on this line is not an ordinary space: type it again',
  ],
  [
    'a tab',
    '      timeout:\t5s\n\t- x\n',
    '10:1',
    'tab characters must not be used in indentation (indent with spaces)',
  ],
  ['an emoji before the place', '      headers: {"X-🦉": 1}\n', '9:25', NO_STRING],
])('Scenario 8: %s is never silently read as something else', (_, more, at, message) => {
  const { problems, request } = compiled(more)
  expect(request).toBeUndefined()
  expect(problems[0]).toMatch(new RegExp(`^${at}: \\[`))
  expect(problems[0]).toContain(message)
})

test('Scenario 8: a string of YAML 1.2 remains a string, and a file of comments is no document', () => {
  const more = '      headers: {A: yes, B: 1_000, C: 2020-01-01, D: on}\n'
  expect(compiled(more).http?.headers).toEqual({
    A: { value: 'yes' },
    B: { value: '1_000' },
    C: { value: '2020-01-01' },
    D: { value: 'on' },
  })
  expect(readYaml({ file: 'a.yaml', directory: '', text: '# nothing\n' })).toEqual({
    documents: [],
    problems: [],
  })
})

test('Scenario 8: a byte order mark in the middle of a file, as after files were joined, is named', () => {
  const text = `${manifestOf('a')}---\n\uFEFF${manifestOf('b')}`

  const { problems } = compileSet(readYaml({ file: 'a.yaml', directory: '', text }).documents, sources)

  expect(problems.map(formatProblem)).toEqual([
    expect.stringMatching(
      /^a\.yaml:10:1: \[E_API_VERSION\] apiVersion is missing: .* \(remove the byte order mark at its start\)$/,
    ),
  ])
})

test('Scenario 9: the error for a merge key names its replacement', () => {
  expect(compiled('      <<: {timeout: 5s}\n').problems).toEqual([
    `9:7: [E_UNKNOWN_FIELD] spec.endpoints[0].<< is not a known field ${NO_MERGE}`,
  ])
})

const NO_MERGE = '(merge keys are not supported: share values with a kind: Defaults document)'

test('Scenario 9: no field is missing that a merge key may bring', () => {
  const text = `apiVersion: pharos/v1
kind: Service
metadata: {name: a}
spec:
  <<: {interval: 60s, regions: [eu-west-1]}
  endpoints:
    - <<: {url: https://example.com}
      headers: {<<: {X-A: a}}
      assertions:
        - <<: {status: 2xx}
    - name: health
`

  const { problems } = compileSet(readYaml({ file: 'a.yaml', directory: '', text }).documents, sources)

  expect(problems.map(formatProblem)).toEqual([
    `a.yaml:5:3: [E_UNKNOWN_FIELD] spec.<< is not a known field ${NO_MERGE}`,
    `a.yaml:7:7: [E_UNKNOWN_FIELD] spec.endpoints[0].<< is not a known field ${NO_MERGE}`,
    expect.stringMatching(/^a\.yaml:8:21: \[E_VALUE\] .*must be a string, .* \(merge keys are not supported/),
    expect.stringMatching(/^a\.yaml:10:11: \[E_VALUE\] .*exactly one of .* \(merge keys are not supported/),
    expect.stringMatching(/^a\.yaml:11:7: \[E_REQUIRED\] spec\.endpoints\[1\]\.url is required/),
  ])
})

test.each([
  [
    'unknown',
    '      colour: red\n',
    'spec.endpoints[0].colour is not a known field (known here: url, name, method,',
  ],
  ['misspelt', '      asertions: []\n', '(did you mean assertions?)'],
  ['written as the API does', '      max_redirects_to_follow: 3\n', '(did you mean maxRedirects?)'],
  [
    'of a neighbouring level',
    '  method: GET\n',
    'spec.method is not a known field (it belongs to an endpoint)',
  ],
  ['only of Defaults', '  endpointsDefaults: {}\n', '(it belongs to the spec of a kind: Defaults)'],
  [
    'misspelt in policy',
    'policy: {pruneAftr: 24h}\n',
    'policy.pruneAftr is not a known field (did you mean pruneAfter?)',
  ],
  [
    'unknown in policy',
    'policy: {colour: red}\n',
    '(known here: onDelete, pruneAfter, protect, drift, ignore)',
  ],
  ['misspelt next to a secret', '      headers: {A: {env: TOKEN, prefx: y}}\n', '(did you mean prefix?)'],
  ['one too many for a secret', '      headers: {A: {env: X, file: /y}}\n', '(keep one of env, file)'],
  [
    'a file for sops',
    '      headers: {A: {sops: "x.enc.yaml#/a"}}\n',
    '(pharos no longer runs sops: start it with',
  ],
  [
    'a program',
    '      headers: {A: {exec: [vault-get]}}\n',
    '(pharos no longer runs programs: set a variable',
  ],
  ['a drift policy that merges', 'policy: {drift: merge}\n', 'can no longer be merge: use heal or report'],
  [
    'a drift policy that refuses',
    'policy: {drift: refuse}\n',
    'can no longer be refuse: use report, and apply',
  ],
  ['that of the API in an assertion', '      assertions: [{StatusCode: 200}]\n', '(did you mean status?)'],
  [
    'two assertions in one',
    '      assertions: [{status: 200, dns: "< 1s"}]\n',
    '(write each as an item of its own)',
  ],
  ['a text where parts are wanted', '      assertions: [{latency: 1s}]\n', '(such as { total: "< 500ms" })'],
  [
    'no mapping below raw',
    '      assertions: [{raw: {StatusCode: 1}}]\n',
    'raw.StatusCode must be an object { expected }',
  ],
  ['of another level', '      regions: [eu-west-1]\n', '(it belongs to spec)'],
  ['of policy', '  drift: heal\n', '(it belongs to policy)'],
])('Scenario 10: a field that is %s is reported with the known ones', (_, more, hint) => {
  expect(compiled(more).problems).toEqual([expect.stringContaining(hint)])
})

test.each([
  ['a colon in a text', '      name: Shop: checkout\n', 'quote a text that contains ": "'],
  ['a text that starts with @', '      name: @shop\n', 'quote a text that starts with @, ` or %'],
  ['text after closing quotes', '      name: "a" b\n', 'quote the whole text'],
  [
    'a backslash between double quotes',
    '      body: "\\d"\n',
    'a backslash is literal between single quotes',
  ],
  ['a template', '      body: {{ body }}\n', 'quote a text that starts with {'],
  ['a tag', '      name: !secret x\n', 'remove the word that starts with !'],
  ['a field in the wrong column', '     name: x\n', 'so do the fields of one mapping'],
  [
    'an item in the wrong column',
    '      assertions:\n      - dns: "< 1s"\n       - dns: "< 1s"\n',
    'items of one list start',
  ],
  ['no blank after a colon', '      timeout:5s\n      name: x\n', 'after the colon on the line before'],
  ['a template that was not filled in', '      timeout: {{ .Values.t }}\n', '9:17: [E_YAML]'],
  ['a key without a colon', '      name\n      timeout: 1s\n', 'no ": " after its key'],
  [
    'an odd blank a line above',
    '      timeout:\u00a05s\n      name: x\n',
    'on the line before is not an ordinary space',
  ],
  ['a git merge conflict', '<<<<<<< HEAD\n', '9:1: [E_YAML] this is an unresolved git conflict'],
])('YAML that is broken by %s is reported with advice', (_, more, hint) => {
  const { problems, request } = compiled(more)
  expect(request).toBeUndefined()
  expect(problems).toEqual([expect.stringContaining(hint)])
})

test.each([
  ['1.5s', { secs: 1, nanos: 500_000_000 }],
  ['999999999ns', { secs: 0, nanos: 999_999_999 }],
  ['0.1s', { secs: 0, nanos: 100_000_000 }],
  ['1m', { secs: 60, nanos: 0 }],
])('Scenario 11: the timeout %s is exact', (text, duration) => {
  expect(compiled(`      timeout: ${text}\n`).http?.timeout).toEqual(duration)
})

test.each([
  ['timeout', '0s', 'must be longer than zero'],
  ['interval', '0s', 'must be longer than zero'],
  ['timeout', '90m', 'must be at most 60 seconds'],
  ['timeout', '0.0000000001s', 'must be a duration'],
  ['interval', '500ms', 'must be whole seconds'],
  ['interval', '2147483648s', 'at most 2147483647s'],
  ['interval', '1.5s', 'must be whole seconds'],
])('Scenario 11: the %s %s is refused', (field, text, message) => {
  const manifest =
    field === 'timeout' ? manifestOf('a', `      timeout: ${text}\n`) : manifestOf('a').replace('60s', text)
  const { documents } = readYaml({ file: 'a.yaml', directory: '', text: manifest })
  expect(compileSet(documents, sources).problems.map(formatProblem)).toEqual([
    expect.stringContaining(message),
  ])
})

test('Scenario 14: a body is read only from a file of the set', () => {
  const root = testFolder()
  const set = join(root, 'set')
  mkdirSync(join(set, 'folder'), { recursive: true })
  writeFileSync(join(root, 'outside'), 'canary')
  writeFileSync(join(set, 'inside'), 'ping')
  symlinkSync(join(root, 'outside'), join(set, 'link'))
  symlinkSync(root, join(set, 'up'))
  const body = (file: string) => compiled(`      body: {file: ${file}}\n`, { rootDirectory: set })

  expect(body('./inside').http?.body).toEqual({ value: 'ping' })
  for (const file of [
    '../outside',
    './../outside',
    './folder/../../outside',
    './link',
    './up/outside',
    './folder',
    './absent',
    join(root, 'outside'),
  ]) {
    const { problems, request } = body(file)
    expect([file, request, problems.length]).toEqual([file, undefined, 1])
    expect(problems[0]).toMatch(/\[E_FILE\]|\[E_SECRET\]/)
  }
})

test.each([
  ['is not set', '{env: ABSENT}', 'which is not set'],
  ['is empty', '{env: EMPTY}', 'which is empty'],
  ['has no file', '{file: /nowhere/secrets/token}', 'which cannot be read'],
])('Scenario 15: a secret that %s prevents only its own service from being sent', (_, form, message) => {
  const broken = manifestOf('a', `      headers: {X-A: ${form}}\n`)
  const { documents } = readYaml({ file: 'a.yaml', directory: '', text: `${broken}---\n${manifestOf('b')}` })
  const set = compileSet(documents, sources)
  expect(set.problems.map(formatProblem)).toEqual([expect.stringMatching(/^a\.yaml:9:22: \[E_SECRET\]/)])
  expect(set.problems[0]?.message).toContain(message)
  expect([set.services.map(({ key }) => key), set.frozenKeys]).toEqual([['b'], ['a']])
})

test('Scenario 15: an empty secret is sent only with allowEmpty', () => {
  expect(compiled('      headers: {X-A: {env: EMPTY, allowEmpty: true}}\n').http?.headers).toEqual({
    'X-A': { value: '', sensitive: true },
  })
})

test('Scenario 16: a secret in clear text in a manifest is refused unless that is allowed', () => {
  const more = '      headers: {X-A: {value: canary, sensitive: true}}\n'
  const refused = compiled(more)
  expect(refused.problems).toEqual([expect.stringContaining('9:22: [E_INLINE_SECRET]')])
  expect(refused.problems.join()).not.toContain('canary')
  expect(compiled(more, { allowInlineSecrets: true }).http?.headers).toEqual({
    'X-A': { value: 'canary', sensitive: true },
  })
})
