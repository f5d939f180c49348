import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/programHere.ts'

const target = createServer((_request, response) => response.end('welcome'))
const folder = suiteFolder()
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  // True because it listens on TCP.
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`
})
afterAll(() => target.close())

const place = (name: string) => join(folder, name)

test('imported manifests validate, are checked by pharos test, and contain no secret', async () => {
  writeFileSync(
    place('config.yaml'),
    `endpoints:
  - name: shop
    url: ${url}
    headers: {Authorization: Bearer canary-1}
    conditions: ["[STATUS] == 200", "[BODY] == pat(*welcome*)"]
`,
  )
  const written = await runHere(['import', 'gatus', place('config.yaml'), '--write', place('manifests')])
  const validated = await runHere(['validate', place('manifests')])
  const env = { ...process.env, SHOP_AUTHORIZATION: 'secret' }
  const tested = await runHere(['test', place('manifests'), '--allow-ranges', '127.0.0.0/8'], env)
  const again = await runHere(['import', 'gatus', place('config.yaml'), '--write', place('manifests')])

  expect([written.exitCode, validated.exitCode, tested.exitCode, again.exitCode]).toEqual([0, 0, 0, 1])
  expect(written.stderr).toContain('set the environment variable SHOP_AUTHORIZATION')
  expect(again.stderr).toContain('shop.yaml exists')
  const everything = [written, validated, tested, again].map(({ stdout, stderr }) => stdout + stderr)
  expect(everything.join('\n') + readFileSync(place('manifests/shop.yaml'), 'utf8')).not.toContain('canary')
})

const SOURCES = (address: string): Readonly<Record<string, string>> => ({
  gatus: `{endpoints: [{name: from-gatus, url: "${address}", conditions: ["[BODY] == welcome"]}]}`,
  blackbox: `{scrape_configs: [{job_name: from-blackbox, metrics_path: /probe, static_configs: [{targets: ["${address}"]}]}]}`,
  'uptime-kuma': `{"monitorList": [{"id": 1, "name": "From Kuma", "type": "keyword", "url": "${address}", "keyword": "welcome"}]}`,
  uptimerobot: `{"monitors": [{"id": 1, "friendly_name": "From UptimeRobot", "url": "${address}", "type": 1}]}`,
  checkly: `[{"name": "From Checkly", "checkType": "URL", "request": {"url": "${address}"}}]`,
  openapi: `{openapi: 3.1.0, info: {title: From OpenAPI}, servers: [{url: "${address}"}], paths: {/: {get: {}}}}`,
})

test('manifests imported from all formats validate together, and are checked by pharos test', async () => {
  for (const [format, text] of Object.entries(SOURCES(url))) {
    writeFileSync(place(`${format}.yml`), text)
    const { exitCode } = await runHere([
      ...['import', format, place(`${format}.yml`)],
      ...['--write', place('all')],
    ])
    expect([format, exitCode]).toEqual([format, 0])
  }
  const validated = await runHere(['validate', place('all')])
  const tested = await runHere(['test', place('all'), '--allow-ranges', '127.0.0.0/8', '--json'])

  expect(validated.stdout).toContain('valid: 6 services in 6 files')
  expect([validated.exitCode, tested.exitCode]).toEqual([0, 0])
})

test('the database of Uptime Kuma is read as it is, and not written', async () => {
  const file = place('kuma.db')
  const database = new Sqlite(file)
  database.exec(
    `CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, type TEXT, url TEXT, active INTEGER, interval INTEGER)`,
  )
  database.prepare('INSERT INTO monitor VALUES (1, ?, ?, ?, 1, 60)').run('Shop', 'http', url)
  database.exec(`CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
    CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id INTEGER, tag_id INTEGER, value TEXT);
    CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY, monitor_id INTEGER, notification_id INTEGER);
    INSERT INTO tag VALUES (1, 'team', '#fff');
    INSERT INTO monitor_tag VALUES (1, 1, 1, 'web');
    INSERT INTO monitor_notification VALUES (1, 1, 1)`)
  // A history of results makes databases larger than configurations may be.
  database.exec('CREATE TABLE heartbeat (data BLOB); INSERT INTO heartbeat VALUES (zeroblob(67108864))')
  database.close()
  const before = readFileSync(file)

  const { exitCode, stdout } = await runHere([
    'import',
    'uptime-kuma',
    file,
    '--region',
    'us-east-1,eu-west-1',
    '--json',
  ])

  expect(exitCode).toBe(3)
  expect(JSON.parse(stdout).notes).toMatchObject([{ line: 1, message: expect.stringContaining('channel') }])
  expect(JSON.parse(stdout).manifests[0]).toMatchObject({
    key: 'shop',
    manifest: {
      metadata: { labels: { team: 'web' } },
      spec: { regions: ['us-east-1', 'eu-west-1'], endpoints: [{ url }] },
    },
  })
  expect(readFileSync(file).equals(before)).toBe(true)
})

test.each([
  [
    ['nagios', 'x'],
    'the format is gatus, blackbox, uptime-kuma, uptimerobot, checkly, openapi, terraform, not nagios',
  ],
  [['gatus', 'nowhere.yaml'], 'nowhere.yaml cannot be read: it does not exist'],
])('import %j is refused with the reason', async (args, problem) => {
  const { exitCode, stderr } = await runHere(['import', ...args, '--write', place('none')])

  expect([exitCode, existsSync(place('none'))]).toEqual([1, false])
  expect(stderr).toContain(problem)
})

test('a file in another encoding is refused, and a label called env is no variable', async () => {
  const file = place('latin1.yaml')
  writeFileSync(file, Buffer.from('endpoints: [{name: caf\u00e9, url: "https://shop.example/"}]', 'latin1'))
  const labelled = place('labelled.yaml')
  writeFileSync(labelled, `endpoints: [{name: a, url: "${url}", extra-labels: {env: prod}}]`)

  const refused = await runHere(['import', 'gatus', file])
  const { exitCode, stdout } = await runHere(['import', 'gatus', labelled, '--json'])

  expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain(`${file} is not UTF-8`)
  expect([exitCode, JSON.parse(stdout).variables]).toEqual([0, []])
})

test('a configuration may come from a pipe', async () => {
  writeFileSync(place('piped.yaml'), `endpoints: [{name: a, url: "${url}"}]`)
  execFileSync('mkfifo', [place('pipe')])
  spawn('sh', ['-c', 'cat "$0/piped.yaml" > "$0/pipe"', folder], { stdio: 'ignore' })

  const piped = await runHere(['import', 'gatus', place('pipe'), '--json'])
  const { manifests } = JSON.parse((await runHere(['import', 'gatus', place('piped.yaml'), '--json'])).stdout)

  expect([piped.exitCode, JSON.parse(piped.stdout).manifests]).toEqual([0, manifests])
})

test('a file whose import would take gigabytes of memory is refused', async () => {
  writeFileSync(place('large.json'), '{}')
  truncateSync(place('large.json'), 16 * 1_024 * 1_024 + 1)

  const { exitCode, stderr } = await runHere(['import', 'openapi', place('large.json')])

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('large.json is larger than 16 MiB')])
})
