import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isTorture } from '../../../scripts/testing/torture.ts'
import { openValue } from '../../domain/seal.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { defaultKeyFile, readKeys } from '../../secrets/keyring.ts'
import { rotateMasterKey } from '../../secrets/rotateMasterKey.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { sqliteEngine } from '../../store/sqlite/sqliteEngine.ts'
import { apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { PROGRAM, startProcess } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'

const STRACE = '/usr/bin/strace'
const skipReason = existsSync(STRACE) || process.env.CI === 'true' ? null : `no strace at ${STRACE}`

/** System calls that write to a disk or rename, between which a power cut may happen. */
const CALLS = ['openat', 'pwrite64', 'write', 'fsync', 'fdatasync', 'rename', 'unlink']

/**
 * System calls after each of which the files are copied. Writes to the database are left out, because there are many,
 * and the files after one are those after the flush that follows it; the torture includes them.
 */
const COPIED_AFTER = ['rename', 'fsync', 'fdatasync', 'unlink', ...(isTorture ? ['pwrite64'] : [])]

describe.skipIf(skipReason !== null)(
  `a rotation of the master key${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    let folder = ''
    let serviceId = ''
    const steps: string[] = []
    /** Names of the copies, of which each has the files that a kill at that moment leaves. */
    const copies: string[] = []

    /** Runs a rotation of the folder `original`, and stops it after each of COPIED_AFTER for a copy. */
    async function rotateAndCopy(): Promise<void> {
      const traced = ['-f', '-y', '-e', `trace=${CALLS.join(',')}`]
      const stopped = ['-e', `inject=${COPIED_AFTER.join(',')}:signal=SIGSTOP`]
      const rotation = [PROGRAM, 'master-key', 'rotate', '--data-dir', join(folder, 'original')]
      const child = spawn(STRACE, [...traced, ...stopped, process.execPath, ...rotation], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const exited = once(child, 'exit')
      let stopping: string | undefined
      for await (const line of createInterface(child.stderr)) {
        steps.push(line)
        const [, thread, event] = /^\[pid +(\d+)\] --- (SIGSTOP|stopped)/.exec(line) ?? []
        if (event === 'SIGSTOP') stopping = thread
        // The other threads stop with it.
        if (event !== 'stopped' || thread !== stopping) continue
        copies.push(`copy-${copies.length + 1}`)
        await copy(copies.at(-1) ?? '')
        process.kill(Number(thread), 'SIGCONT')
      }
      expect((await exited)[0]).toBe(0)
    }

    /** The secret of the folder `name`, opened with its key file and its database. */
    async function secretOf(name: string): Promise<readonly string[]> {
      const dataDir = join(folder, name)
      const source = { kind: 'file', file: defaultKeyFile(dataDir) } as const
      const keys = readKeys(source, dataDir)
      const store = await openStore(dataDir, systemEnvironment.nowMs)
      const values = (await store.sealedValues(serviceId)).map((sealed) => {
        const key = keys.find(({ id }) => id === sealed.masterKeyId)
        return key === undefined ? 'lost' : openValue(sealed, key)
      })
      const named = await store.masterKeyIds()
      await store.close()
      return [...values, ...named.filter((id) => keys.every((key) => key.id !== id))]
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pharos-rotation-'))
      const dataDir = join(folder, 'original')
      const [key = ''] = await makeKeys(dataDir, await makeOrg(dataDir), 1)
      const server = await startProcess(dataDir)
      const headers = { 'X-Token': { value: 'hush', sensitive: true } }
      const call = { Http: { method: 'GET' as const, timeout: null, headers } }
      const body = serviceBody({ endpoints: [endpointBody({ call })] })
      const { json } = await apiClient(server.url, key).post('/v1/services', body)
      serviceId = typeof json === 'object' && json !== null && 'id' in json ? String(json.id) : ''
      await server.stop()
      await rotateAndCopy()
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    async function copy(name: string): Promise<void> {
      const [from, to] = [join(folder, 'original'), join(folder, name)]
      await cp(from, to, { recursive: true })
      await cp(defaultKeyFile(from), defaultKeyFile(to))
    }

    test('flushes each key file and its folder to the disk before the database uses it', () => {
      const events = steps.flatMap((line) => {
        if (/openat\(.*pharos-key-[-0-9a-f]{36}\.new".*O_CREAT\|O_EXCL/.test(line)) return ['new file']
        if (/ fsync\(\d+<[^>]*pharos-key-[^>]*>\) += 0/.test(line)) return ['flush file']
        if (/ rename\(".*pharos-key-.*", ".*\.master-key"\) += 0/.test(line)) return ['rename']
        if (line.includes(` fsync(`) && line.includes(`<${folder}>`)) return ['flush folder']
        return / f(?:data)?sync\(\d+<[^>]*-wal>\) += 0/.test(line) ? ['commit'] : []
      })

      const write = 'new file, flush file, rename, flush folder'
      // Activation, the secrets, and forgetting the old key; when the database is closed, its log is flushed once more.
      expect(events.join(', ')).toMatch(new RegExp(`^${write}(, commit){3,}, ${write}(, commit)?$`))
    })

    test('a backup and a restore are flushed to the disk before they are reported', async () => {
      const [backup, restored, trace] = ['one.db', 'restored', 'trace'].map((name) => join(folder, name))
      const run = async (...args: readonly string[]): Promise<string> => {
        const calls = [
          '-f',
          '-y',
          '-e',
          'trace=link,mkdir,rename,fsync,write',
          '-o',
          trace ?? '',
          process.execPath,
          PROGRAM,
        ]
        expect(spawnSync(STRACE, [...calls, ...args]).status).toBe(0)
        return readFile(trace ?? '', 'utf8')
      }
      const flushAfter = (call: string, path = ''): RegExp =>
        new RegExp(` ${call}\\([^]* fsync\\(\\d+<${path}>\\)[^]* write\\(1<`)

      expect(await run('backup', '--data-dir', join(folder, 'original'), '--to', backup ?? '')).toMatch(
        flushAfter('link', folder),
      )
      const restoring = await run('restore', '--from', backup ?? '', '--data-dir', restored ?? '')

      expect(restoring).toMatch(flushAfter('rename', restored))
      // For the created folder.
      expect(restoring).toMatch(flushAfter('mkdir', folder))
    })

    test('loses nothing when it is killed after any call that changes files, and is finished by the next one', async () => {
      expect(copies.length).toBeGreaterThan(0)
      for (const name of copies) {
        const afterKill = await secretOf(name)
        const dataDir = join(folder, name)
        const engine = sqliteEngine(dataDir, systemEnvironment.nowMs)
        const store = await engine.open('administer')
        const source = { kind: 'file', file: defaultKeyFile(dataDir) } as const
        const rotation = await rotateMasterKey({
          store,
          engine,
          source,
          dataDir,
          environment: systemEnvironment,
          yieldTurn: async () => {},
        })
        const named = await store.masterKeyIds()
        await store.close()

        expect([name, afterKill]).toEqual([name, ['hush']])
        expect([await secretOf(name), named]).toEqual([['hush'], [rotation.activeId]])
      }
    })
  },
)
