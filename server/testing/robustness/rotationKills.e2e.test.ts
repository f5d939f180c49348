import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
const CALLS = ['openat', 'pwrite64', 'write', 'fsync', 'fdatasync', 'rename', 'unlink'] as const
type Call = (typeof CALLS)[number]

/**
 * System calls at each of which a rotation is killed. Writes to the database are left out, because there are many, and
 * a kill at one leaves the same state as a kill at the flush before it; the torture includes them. Of fsync and
 * fdatasync, the database uses the one that it was compiled with.
 */
const KILLED_AT: readonly (readonly Call[])[] = [
  ['rename'],
  ['fsync', 'fdatasync'],
  ['unlink'],
  ...(isTorture ? [['pwrite64'] as const] : []),
]

describe.skipIf(skipReason !== null)(
  `a rotation of the master key${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    let folder = ''
    let serviceId = ''
    let steps: readonly string[] = []

    /** Runs a rotation of the folder `name` under strace with `options`; its exit code, null when it was killed. */
    function rotate(name: string, options: readonly string[]): number | null {
      const program = [process.execPath, PROGRAM, 'master-key', 'rotate', '--data-dir', join(folder, name)]
      const { status, error } = spawnSync(STRACE, ['-f', '-y', ...options, ...program])
      if (error !== undefined) throw error
      return status
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
      await copy('whole')
      const trace = join(folder, 'trace')
      expect(rotate('whole', ['-e', `trace=${CALLS.join(',')}`, '-o', trace])).toBe(0)
      steps = (await readFile(trace, 'utf8')).split('\n')
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    async function copy(name: string): Promise<void> {
      const [from, to] = [join(folder, 'original'), join(folder, name)]
      await cp(from, to, { recursive: true })
      await cp(defaultKeyFile(from), defaultKeyFile(to))
    }

    /** Number of times the rotation makes `call` in the main thread, which does the writing. */
    const countOf = (call: Call): number => {
      const [main] = steps[0]?.split(' ') ?? []
      return steps.filter((line) => line.startsWith(`${main} `) && line.includes(` ${call}(`)).length
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

    test.each(KILLED_AT.map((calls) => ({ calls })))(
      'loses nothing when it is killed at any of $calls, and is finished by the next one',
      async ({ calls }) => {
        const kills = calls.flatMap((call) =>
          Array.from({ length: countOf(call) }, (_, index) => ({ call, nth: index + 1 })),
        )
        expect(kills.length).toBeGreaterThan(0)
        for (const { call, nth } of kills) {
          const name = `${call}-${nth}`
          await copy(name)

          const status = rotate(name, [
            '-e',
            `trace=${call}`,
            '-e',
            `inject=${call}:signal=SIGKILL:when=${nth}`,
            '-o',
            '/dev/null',
          ])
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

          expect([name, status, afterKill]).toEqual([name, null, ['hush']])
          expect([await secretOf(name), named]).toEqual([['hush'], [rotation.activeId]])
        }
      },
    )
  },
)
