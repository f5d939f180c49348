import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../api/testing/temporaryFolder.ts'
import { runHere } from './testing/programHere.ts'

let target: Server
const folder = suiteFolder()
let url: string
let requests: { readonly token: string | undefined }[] = []
beforeAll(async () => {
  target = createServer(({ url: path, headers }, response) => {
    requests.push({ token: headers['x-token']?.toString() })
    response.statusCode = path?.startsWith('/broken') ? 503 : 200
    response.setHeader('X-Echo', headers['x-token']?.toString() ?? '')
    response.end('status: ok')
  })
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address with one.
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
})
afterAll(async () => {
  await new Promise((resolve) => target.close(resolve))
})

const OWN = ['--allow-ranges', '127.0.0.0/8']

/** Writes a manifest with one endpoint and gives its path. */
function manifest(name: string, path: string, assertions: string, rest = ''): string {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(
    file,
    `apiVersion: pharos/v1
kind: Service
metadata: { name: ${basename(name)} }
spec:
  interval: 60s
  regions: [eu-west-1]
  endpoints:
    - url: ${url}${path}
${rest}      assertions: ${assertions}
`,
  )
  return file
}

test('passing checks exit 0, with a line for each assertion and one for the phases', async () => {
  const file = manifest(
    'well',
    '/?secret=canary-of-a-query',
    '[{ status: 200 }, { body: { regex: "^status: (ok|fine)$" } }]',
  )

  const { exitCode, stdout, stderr } = await runHere(['test', file, ...OWN])

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  expect(lines.slice(0, 4)).toEqual([
    '1 check from this machine, not from the regions of the manifests',
    `well: ${url}/`,
    '  PASS status 200 (expected 200)',
    '  PASS body (10 bytes) matches /^status: (ok|fine)$/',
  ])
  expect(lines[4]).toMatch(/^ {2}up: .+ \(dns 0 µs, connect .+, tls 0 µs, wait .+, body .+\)$/)
  expect(lines[5]).toBe('1 of 1 check passed')
})

test('a failing check is confirmed, exits 8 and shows the observed values', async () => {
  const file = manifest(
    'broken',
    '/broken',
    '[{ body: { contains: fine } }, { latency: { total: "< 30s" } }]',
  )
  requests = []

  const { exitCode, stdout } = await runHere(['test', file, ...OWN, '--json'])

  const { checks, ...rest } = JSON.parse(stdout)
  expect({ exitCode, rest, requests: requests.length }).toEqual({
    exitCode: 8,
    rest: { command: 'test', exitCode: 8, problems: [], warnings: [] },
    requests: 2,
  })
  const time = expect.any(Number)
  expect(checks).toEqual([
    {
      service: 'broken',
      endpoint: `${url}/broken`,
      url: `${url}/broken`,
      outcome: 'down',
      reason: 'assertion_status',
      text: 'status 503, expected < 400',
      status: 503,
      attempts: 2,
      phases_ms: { dns: 0, connect: time, tls: 0, wait: time, body: time, total: time },
      assertions: [
        { kind: 'Body', pass: false, expected: 'to contain "fine"', seen: '10 bytes' },
        { kind: 'Latency', pass: true, expected: '< 30 s', seen: expect.any(String) },
      ],
    },
  ])
})

test('a check without a response has no status', async () => {
  const { exitCode, stdout } = await runHere(['test', manifest('private-status', '/', '[]'), '--json'])

  expect({ exitCode, checks: JSON.parse(stdout).checks }).toMatchObject({
    exitCode: 8,
    checks: [{ outcome: 'unknown', reason: 'address_forbidden', status: null }],
  })
})

test('a secret is sent from its source, and appears in no output format', async () => {
  const secrets = join(folder, 'secrets')
  mkdirSync(secrets)
  writeFileSync(join(secrets, 'token'), 'canary-of-a-header')
  const headers = `      headers: { X-Token: { file: ${join(secrets, 'token')} } }\n`
  const file = manifest('sealed', '/', '[{ header: { name: X-Echo, equals: other } }]', headers)
  requests = []

  const outputs = []
  for (const format of ['text', 'json', 'junit']) {
    outputs.push(await runHere(['test', file, ...OWN, '--secrets-dir', secrets, '--format', format]))
  }

  expect(requests[0]).toEqual({ token: 'canary-of-a-header' })
  expect(outputs.map(({ exitCode }) => exitCode)).toEqual([8, 8, 8])
  expect(outputs.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('')).not.toContain('canary')
  expect(outputs[0]?.stdout).toContain('FAIL header x-echo is …, expected to be "other"')
  expect(outputs[2]?.stdout).toContain('<failure type="assertion_header" message="header x-echo is …')
})

test('private addresses are refused as on the server, without a connection', async () => {
  const file = manifest('private', '/', '[]')
  requests = []

  const { exitCode, stdout, stderr } = await runHere(['test', file])

  expect({ exitCode, requests }).toEqual({ exitCode: 8, requests: [] })
  expect(stdout).toContain('UNKNOWN 127.0.0.1:')
  expect(stderr).toContain('--allow-ranges')
})

test('a manifest named by several paths is checked once', async () => {
  const below = join(folder, 'overlap')
  mkdirSync(join(below, 'inner'), { recursive: true })
  manifest('overlap/one', '/', '[]')
  manifest('overlap/inner/two', '/', '[]')
  requests = []

  const { exitCode, stdout } = await runHere(['test', below, `${below}/.`, join(below, 'inner'), ...OWN])

  expect({ exitCode, requests: requests.length }).toEqual({ exitCode: 0, requests: 2 })
  expect(stdout).toContain('2 of 2 checks passed')
})

test('a wrong option is refused before manifests are read', async () => {
  const wrong = join(folder, 'wrong.yaml')
  writeFileSync(wrong, 'kind: Nothing\n')

  const { exitCode, stderr } = await runHere(['test', wrong, '--repeat', '0'])
  rmSync(wrong)

  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'error --repeat must be a count from 1 to 9999\n',
  })
})

test('--target and --repeat select what runs, and several paths run together', async () => {
  const paths = [manifest('one', '/', '[]'), manifest('two', '/', '[]')]

  const both = await runHere(['test', ...paths, ...OWN])
  const three = await runHere(['test', ...paths, ...OWN, '--target', 'two', '--repeat', '3', '--json'])

  expect(both.stdout).toContain('2 of 2 checks passed')
  expect(JSON.parse(three.stdout).checks.map(({ service }: { service: string }) => service)).toEqual([
    'two',
    'two',
    'two',
  ])
})

test.each<[readonly string[], number, string]>([
  [['nowhere'], 1, 'there is nothing at nowhere: name a folder of manifests'],
  [['one.yaml', '--target', 'other'], 1, 'no manifest and no service of the state is named other'],
  [['one.yaml', '--repeat', '0'], 1, '--repeat must be a count'],
  [['one.yaml', '--allow-ranges', '10.0.0.0'], 1, 'is not an address range'],
  [['invalid.yaml'], 7, '[E_'],
  [['invalid.yaml', '--format', 'junit'], 7, '[E_'],
])('pharos test %j exits %i', async (args, exitCode, text) => {
  manifest('one', '/', '[]')
  writeFileSync(
    join(folder, 'invalid.yaml'),
    'apiVersion: pharos/v1\nkind: Service\nmetadata: { name: a }\nspec: {}\n',
  )

  const ended = await runHere(['test', ...args.map((arg) => arg.replace(/^(.*yaml)$/, join(folder, '$1')))])

  expect(ended.exitCode).toBe(exitCode)
  expect(`${ended.stdout}${ended.stderr}`).toContain(text)
})
