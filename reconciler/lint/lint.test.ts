import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/programHere.ts'
import { LINT_FILE } from './lintSettings.ts'

let folder: string
beforeEach(() => {
  folder = testFolder()
  mkdirSync(join(folder, 'monitoring'))
})

const rules = (text: string): void => writeFileSync(join(folder, LINT_FILE), text)

function write({
  name = 'shop',
  labels = '{team: shop}',
  interval = '60s',
  regions = '[eu-west-1]',
  url = 'https://shop.example/',
  assertions = '[{status: 200}]',
}): void {
  writeFileSync(
    join(folder, `monitoring/${name}.yaml`),
    `apiVersion: pharos/v1
kind: Service
metadata: {name: ${name}, labels: ${labels}}
spec:
  interval: ${interval}
  regions: ${regions}
  endpoints:
    - url: ${url}
      assertions: ${assertions}
`,
  )
}

/** Runs it in the folder; findings as text. */
async function lint(...args: readonly string[]) {
  const run = await runHere(['lint', join(folder, 'monitoring'), ...args])
  return { ...run, stdout: run.stdout.replaceAll(`${folder}/`, '') }
}

const ALL = `assertions: [status, latency]
interval: {min: 30s, max: 5m}
labels: {team: [shop, desk], tier: []}
regions: 2
`

test('without a file of rules, lint requires assertions and https', async () => {
  write({ url: 'http://shop.example/', assertions: '[]' })

  const { exitCode, stdout } = await lint()

  expect(exitCode).toBe(2)
  expect(
    stdout,
  ).toBe(`monitoring/shop.yaml:8:7: [L_ASSERTIONS] spec.endpoints[0] has no assertion (add one, such as {status: 2xx})
monitoring/shop.yaml:8:12: [L_HTTPS] spec.endpoints[0].url is not encrypted (write https://, or list the service under except.https)
2 findings in 1 service; the default rules apply (a file .pharos-lint.yaml changes them)
`)
})

test('the last line names the files of rules, and the paths without one', async () => {
  write({ assertions: '[]' })
  const other = join(folder, 'other')
  mkdirSync(join(other, '.git'), { recursive: true })
  rules('https: false\n')

  const one = await lint()
  const both = await lint(other)
  const named = await lint(other, '--config', join(folder, LINT_FILE))

  expect([one, both, named].map(({ stdout }) => stdout.trimEnd().split('\n').at(-1))).toEqual([
    '1 finding in 1 service; rules are in .pharos-lint.yaml',
    '1 finding in 1 service; rules are in .pharos-lint.yaml; the default rules apply to the other paths (a file .pharos-lint.yaml changes them)',
    '1 finding in 1 service; rules are in .pharos-lint.yaml',
  ])
})

test.each([
  [
    { assertions: '[{latency: {total: "< 1s"}}]' },
    '8:7: [L_ASSERTIONS] spec.endpoints[0] has no assertion on status',
  ],
  [{ interval: '10s' }, '5:13: [L_INTERVAL] spec.interval is shorter than 30s (use 30s or longer)'],
  [{ interval: '10m' }, '5:13: [L_INTERVAL] spec.interval is longer than 5m (use 5m or shorter)'],
  [{ labels: '{tier: "1"}' }, '3:11: [L_LABELS] metadata has no label team (add labels: {team: shop})'],
  [{ labels: '{team: shop}' }, '3:11: [L_LABELS] metadata has no label tier (add labels: {tier: VALUE})'],
  [
    { labels: '{team: cart, tier: "1"}' },
    '3:39: [L_LABELS] metadata.labels.team has a value that is not listed (use shop, desk)',
  ],
  [
    { regions: '[eu-west-1]' },
    '6:12: [L_REGIONS] spec.regions has 1 of at least 2 regions (add regions, so that one of them alone opens no incident)',
  ],
])('a manifest with %j breaks a rule: %s', async (change, finding) => {
  rules(ALL)
  write({
    assertions: '[{status: 200}, {latency: {total: "< 1s"}}]',
    labels: '{team: shop, tier: "1"}',
    regions: '[eu-west-1, us-east-1]',
    ...change,
  })

  const { exitCode, stdout } = await lint()

  expect([exitCode, stdout]).toEqual([2, expect.stringContaining(`monitoring/shop.yaml:${finding}`)])
  expect(stdout).toContain('1 finding in 1 service')
})

test('a service can be excluded from a rule by its name', async () => {
  rules('except: {https: [old]}\n')
  write({ name: 'old', url: 'http://shop.example/' })
  write({ name: 'new', url: 'http://shop.example/' })

  const { stdout } = await lint()

  expect(stdout).toContain('monitoring/new.yaml:8:12: [L_HTTPS]')
  expect(stdout).not.toContain('old.yaml')
})

test('the nearest file of rules applies, up to the root of the repository, and --config names another', async () => {
  rules('https: false\nassertions: false\n')
  write({ url: 'http://shop.example/', assertions: '[]' })
  const above = await lint()
  mkdirSync(join(folder, 'monitoring/.git'))
  const outside = await lint()
  const named = await lint('--config', join(folder, LINT_FILE))

  expect([above.exitCode, outside.exitCode, named.exitCode]).toEqual([0, 2, 0])
  expect(above.stdout).toBe('no finding in 1 service\n')
})

test('lint --json prints the findings of a selection as one document, with places', async () => {
  write({ assertions: '[]' })
  write({ name: 'cart', assertions: '[]' })

  const { exitCode, stdout } = await lint('--target', 'cart', '--json')

  expect(exitCode).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({
    problems: [],
    findings: [{ code: 'L_ASSERTIONS', file: 'monitoring/cart.yaml', line: 8, column: 7 }],
    services: 1,
  })
})

test('an invalid manifest is a separate problem', async () => {
  write({ interval: 'soon' })

  const { exitCode, stdout } = await lint()

  expect([exitCode, stdout]).toEqual([7, expect.stringContaining('shop.yaml:5:13: [E_VALUE]')])
})

test.each([
  ['intervall: {min: 30s}\n', ':1:1: [E_VALUE] intervall is not a known field (did you mean interval?)'],
  [
    'owner: me\n',
    ':1:1: [E_VALUE] owner is not a known field (known are assertions, https, interval, labels, regions, except, min, max)',
  ],
  ['interval: {min: soon}\n', ':1:17: [E_VALUE] interval.min must be a duration such as 30s'],
  [
    'assertions: [statuss]\n',
    ':1:14: [E_VALUE] assertions[0] must be one of status, latency, dns, header, body',
  ],
  ['regions: 0\n', ':1:10: [E_VALUE] regions must be at least 1'],
  ['labels: {team: shop}\n', ':1:16: [E_VALUE] labels.team must be a list'],
  ['regions: [\n', ':1:10: [E_YAML]'],
  ['regions: 1\n---\nregions: 2\n', ':3:1: [E_VALUE] the file has several documents (keep one)'],
  ['- regions\n', ':1:1: [E_VALUE] the document must be a mapping'],
  ['interval: 30s\n', ':1:11: [E_VALUE] interval must be a mapping with min or max'],
  ['labels: [team]\n', ':1:9: [E_VALUE] labels must be a mapping of labels to lists of values'],
  ['except: [shop]\n', ':1:9: [E_VALUE] except must be a mapping of rules to lists of services'],
])('rules that cannot be read are refused at their place: %j', async (text, message) => {
  rules(text)
  write({})

  const { exitCode, stderr } = await lint()

  expect(exitCode).toBe(1)
  expect(stderr).toContain(`${join(folder, LINT_FILE)}${message}`)
})
