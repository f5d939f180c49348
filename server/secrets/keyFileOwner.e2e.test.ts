import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { type ServerProcess, startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'

/** The user of the servers in these tests. Only root can choose one, and root ignores permissions. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined

let folder = ''
let dataDir = ''
let keyFile = ''
let key = ''
let server: ServerProcess | undefined

beforeEach(async () => {
  folder = testFolder()
  dataDir = join(folder, 'data')
  keyFile = `${dataDir}.master-key`
  key = (await makeKeys(dataDir, await makeOrg(dataDir), 1))[0] ?? ''
  if (uid === undefined) return
  for (const path of [folder, dataDir, ...(await readdir(dataDir)).map((name) => join(dataDir, name))]) {
    await chown(path, uid, uid)
  }
})
afterEach(async () => {
  await server?.stop()
})

async function start(): Promise<ServerProcess> {
  server = await startProcess(dataDir, ['--admin-port', '0'], { uid })
  return server
}

const sealedService = serviceBody({
  endpoints: [
    endpointBody({
      call: {
        Http: { method: 'GET', timeout: null, headers: { 'X-Token': { value: 'hush', sensitive: true } } },
      },
    }),
  ],
})

async function createSealed({ url }: ServerProcess): Promise<number> {
  return (await apiClient(url, key).post('/v1/services', sealedService)).status
}

async function readiness(of: ServerProcess): Promise<readonly [number, string]> {
  const response = await fetch(`${of.adminUrl()}/readyz`)
  return [response.status, await response.text()]
}

test('a rotation by root keeps the ownership of the key and of all other files', async () => {
  const running = await start()
  const before = await stat(keyFile)

  const whileItRuns = await runHere(['master-key', 'rotate', '--data-dir', dataDir])
  const created = await createSealed(running)
  const ready = await readiness(running)
  await running.stop()
  const whileItStands = await runHere(['master-key', 'rotate', '--data-dir', dataDir])
  const after = await stat(keyFile)
  const again = await start()

  expect([whileItRuns.code, whileItStands.code]).toEqual([0, 0])
  expect([created, await createSealed(again), ready]).toEqual([201, 201, [200, '{"status":"ready"}']])
  expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode])
  const owners = await Promise.all(
    (await readdir(dataDir)).map(async (name) => (await stat(join(dataDir, name))).uid),
  )
  expect(new Set(owners)).toEqual(new Set([before.uid]))
  expect((await readdir(folder)).sort()).toEqual(['data', 'data.master-key'])
})

test('a rotation through a symbolic link changes its target, and keeps the link', async () => {
  const running = await start()
  const elsewhere = join(folder, 'elsewhere')
  await mkdir(elsewhere)
  await rename(keyFile, join(elsewhere, 'key'))
  await symlink(join(elsewhere, 'key'), keyFile)
  const before = await readFile(keyFile, 'utf8')

  const { code } = await runHere(['master-key', 'rotate', '--data-dir', dataDir])

  expect([code, (await readFile(join(elsewhere, 'key'), 'utf8')) === before]).toEqual([0, false])
  expect(await readdir(elsewhere)).toEqual(['key'])
  expect(await createSealed(running)).toBe(201)
})

test('readiness says that the master key is missing, unreadable, readable by others, or the wrong one', async () => {
  const running = await start()
  const text = await readFile(keyFile, 'utf8')
  const keep = async (): Promise<void> => {
    await rm(keyFile, { force: true })
    await writeFile(keyFile, text)
    await chmod(keyFile, 0o600)
    if (uid !== undefined) await chown(keyFile, uid, uid)
  }
  const ways: readonly [string, () => Promise<void>][] = [
    ['no such file', () => rm(keyFile)],
    ['permission denied', () => chmod(keyFile, 0)],
    ['can be read by others', () => chmod(keyFile, 0o644)],
    ['of this database is missing', () => writeFile(keyFile, `${'0f'.repeat(32)}\n`)],
    ['must contain master keys', () => writeFile(keyFile, '')],
  ]

  for (const [words, breakKey] of ways) {
    await breakKey()
    const [status, response] = await readiness(running)
    expect([status, response]).toEqual([503, expect.stringContaining('the master key cannot be used: ')])
    expect(response).toContain(words)
    expect(response).not.toContain(text.trim())
    await keep()
    expect(await readiness(running)).toEqual([200, '{"status":"ready"}'])
  }
})

test('an unwritable place for the master key is an error that names the flag for another path', async () => {
  const parent = join(folder, 'parent')
  const fresh = join(parent, 'fresh')
  await mkdir(fresh, { recursive: true })
  if (uid !== undefined) await chown(fresh, uid, uid)
  await chmod(parent, 0o555)
  const made = startProcess(fresh, [], { uid })

  await expect(made).rejects.toThrow(
    `pharos-server: the master key file ${fresh}.master-key cannot be written (EACCES): make its folder writable, or choose another place with --master-key-file\n`,
  )

  await chmod(parent, 0o755)

  expect([await readdir(parent), await readdir(fresh)]).toEqual([['fresh'], []])
})

test('the same error occurs when a subcommand created the database before', async () => {
  await chmod(folder, 0o555)
  const started = startProcess(dataDir, [], { uid })

  await expect(started).rejects.toThrow('--master-key-file')
  await chmod(folder, 0o755)

  expect(await readdir(folder)).toEqual(['data'])
})
