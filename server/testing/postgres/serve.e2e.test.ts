import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { PROGRAM, startProcess } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { durableDatabases } from './durableDatabases.ts'
import { startLossyProxy } from './lossyProxy.ts'

const folder = suiteFolder()
let url = ''
/** Flags for every process. */
let flags: readonly string[]
beforeAll(async () => {
  url = await durableDatabases().createEmpty()
  const [keyFile, urlFile] = [join(folder, 'master.key'), join(folder, 'url')]
  writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
  writeFileSync(urlFile, url, { mode: 0o600 })
  flags = ['--database-file', urlFile, '--master-key-file', keyFile, '--monitor', 'off']
})

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, '--database', url])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

test('two processes, one without SQLite, serve one database: each returns what the other created, even after that was killed', async () => {
  // There it finds no better-sqlite3, which an installation may leave out.
  const program = join(folder, basename(PROGRAM))
  copyFileSync(PROGRAM, program)
  const [first, second] = await Promise.all([startProcess(flags), startProcess(flags, [], { program })])
  const orgId = await run('org', 'create', '--name', 'Acme', '--plan', 'business')
  const key = await run('key', 'create', '--org', orgId)
  const token = { value: 'hush', sensitive: true }
  const call = { Http: { method: 'GET' as const, timeout: null, headers: { 'X-Token': token } } }
  const body = serviceBody({ endpoints: [endpointBody({ call })] })

  const made = await apiClient(first.url, key).post('/v1/services', body)
  const { id } = serviceResponseSchema.parse(made.json)
  await first.kill()
  const found = await apiClient(second.url, key).get(`/v1/services/${id}`)
  const listed = await run('commands', '--org', orgId, '--json')
  await run('key', 'revoke', '--id', JSON.parse(await run('key', 'list', '--org', orgId, '--json'))[0].id)
  const refused = await apiClient(second.url, key).get(`/v1/services/${id}`)

  expect([made.status, found.status, found.text, refused.status]).toEqual([201, 200, made.text, 401])
  expect(JSON.parse(listed)).toMatchObject([{ service_id: id, type: 'StartServiceMonitoring' }])
  expect(await second.stop()).toBe(0)
  for (const thread of ['results', 'reading', 'link']) {
    const code = readFileSync(PROGRAM.replace(/\.js$/, `-${thread}.js`), 'utf8')
    expect(code).not.toMatch(/^import .* from ['"]better-sqlite3['"]/m)
  }
})

test('a master key is never created for a shared database', async () => {
  const missing = join(folder, 'missing.key')
  const { code, stderr } = await runHere([
    ...[
      'serve',
      '--database',
      await durableDatabases().createEmpty(),
      '--master-key-file',
      missing,
      '--monitor',
      'off',
    ],
    ...['--port', '0'],
  ])

  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`there is no master key in ${missing}: create one with`),
  ])
})

test('a server waits for a database that does not respond yet, and a signal ends the wait at once', async () => {
  const proxy = await startLossyProxy(url)
  onTestFinished(() => proxy.close())
  proxy.cut()
  const early = [...flags]
  early[1] = join(folder, 'proxied-url')
  writeFileSync(early[1], proxy.url, { mode: 0o600 })
  const ended = spawn(process.execPath, [PROGRAM, 'serve', ...early, '--port', '0'])
  let log = ''
  ended.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  await vi.waitUntil(() => log.includes('waiting for the database'), { timeout: 60_000 })
  ended.kill('SIGTERM')
  await once(ended, 'exit')
  const starting = startProcess(early)
  const before = proxy.connections()
  await vi.waitUntil(() => proxy.connections() > before, { timeout: 60_000 })
  proxy.restore()
  const server = await starting

  expect(ended.signalCode).toBe('SIGTERM')
  expect(JSON.parse(log.split('\n')[0] ?? '')).toMatchObject({
    level: 40,
    reason: expect.stringContaining('the database'),
  })
  expect(await server.stop()).toBe(0)
})

test('a server kills itself when it cannot stop in time, as with a silent database, and loses no acknowledged change', async () => {
  const proxy = await startLossyProxy(url)
  onTestFinished(() => proxy.close())
  const proxied = [...flags, '--monitor', 'on']
  proxied[1] = join(folder, 'silent-url')
  writeFileSync(proxied[1], proxy.url, { mode: 0o600 })
  const server = await startProcess(proxied)
  const key = await run(
    'key',
    'create',
    '--org',
    await run('org', 'create', '--name', 'Late', '--plan', 'business'),
  )
  const made = await apiClient(server.url, key).post('/v1/services', serviceBody())
  const { id } = serviceResponseSchema.parse(made.json)
  const client = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  client.write(
    `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
  )
  await once(client, 'data')
  proxy.silence()

  const code = await server.stop()
  const next = await startProcess(flags)
  const found = await apiClient(next.url, key).get(`/v1/services/${id}`)
  await next.stop()

  expect([code, server.child.signalCode, found.text]).toEqual([null, 'SIGKILL', made.text])
  expect(server.stderr()).toContain('the server could not stop in time and is killed')
})
