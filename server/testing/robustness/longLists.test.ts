import { once } from 'node:events'
import { truncateSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import type { Timeouts } from '../../http/transport/timeouts.ts'
import { databaseFile } from '../../store/sqlite/files/openDatabase.ts'
import { apiClient } from '../apiClient.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

/**
 * Twice as many MiB as the buffers of two sockets hold (36 MiB where Linux lets a receiver grow), and more than is
 * rendered at once.
 */
const SERVICES = 80
/** Interval of polling for a condition (milliseconds). */
const LOOK_MS = 20

type Undo = (() => Promise<void> | void)[]

async function runAll(undo: Undo): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}

/**
 * A server with services of nearly 1 MiB each, and another program's connection to its database; `undo` removes both.
 */
async function startFull(undo: Undo, timeouts: Partial<Timeouts> = {}) {
  const server = await startServer({ rateLimit: 'none', timeouts })
  undo.push(server.close)
  const api = apiClient(server.url, server.apiKey)
  const other = new Sqlite(databaseFile(server.dataDir), { timeout: 0 })
  undo.push(() => {
    other.close()
  })
  const call = {
    Http: { method: 'POST' as const, timeout: null, body: { value: 'é'.repeat(32 * 1_024) } },
  }
  const body = serviceBody({ endpoints: Array(15).fill(endpointBody({ call })) })
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', body)).json)
  const copy = other.prepare(
    'INSERT INTO services (id, org_id, generation, response) SELECT ?, org_id, 1, response FROM services WHERE id = ?',
  )
  for (let index = 1; index < SERVICES; index += 1) copy.run(`${index}`, id)
  const responses = other
    .prepare<[], Buffer>('SELECT CAST(response AS BLOB) FROM services ORDER BY position')
    .pluck()
  return {
    ...server,
    api,
    other,
    id,
    /** The expected list, read directly from the database. As bytes, because decoding takes longer than the list. */
    list: (): Buffer => {
      const items = responses.all().flatMap((text, index) => [Buffer.from(index === 0 ? '[' : ','), text])
      return Buffer.concat([...items, Buffer.from(']')])
    },
    /** Requests the list on its own connection. */
    ask: (method = 'GET'): Socket => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      const head = `${method} /v1/services HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
      socket.write(`${head}Authorization: Bearer ${server.apiKey}\r\n\r\n`)
      return socket
    },
    /** Resolves when no transaction holds a snapshot of the database. */
    untilNothingIsKept: async (): Promise<void> => {
      other.exec('UPDATE orgs SET name = name')
      const emptyLog = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').pluck()
      let isKept = true
      undo.push(() => {
        isKept = false
      })
      while (isKept) {
        isKept = emptyLog.get() !== 0
        await setTimeout(LOOK_MS)
      }
    },
  }
}

/** The response that arrives on `socket` until it closes. */
async function takeAll(socket: Socket): Promise<{ readonly head: string; readonly body: Buffer }> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
  await once(socket, 'close')
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\r\n\r\n')
  return { head: bytes.toString('latin1', 0, end + 2), body: bytes.subarray(end + 4) }
}

describe('on one server', () => {
  const undo: Undo = []
  let full: Awaited<ReturnType<typeof startFull>>
  beforeAll(async () => {
    full = await startFull(undo)
  })
  afterAll(() => runAll(undo))

  test('a list of many MiB is sent complete, with its length, to concurrent clients', async () => {
    const { list, ask } = full
    const expected = list()

    const responses = await Promise.all([ask(), ask(), ask('HEAD')].map(takeAll))

    const length = `content-length: ${expected.length}\r\n`
    expect(responses.map(({ head }) => head.startsWith('HTTP/1.1 200 OK') && head.includes(length))).toEqual([
      true,
      true,
      true,
    ])
    expect(responses.map(({ body }) => body.equals(expected))).toEqual([true, true, false])
    expect(responses.at(-1)?.body.length).toBe(0)
  })

  test('a long list is a snapshot, whatever changes while it is read', async () => {
    const { api, id, list, ask, other } = full
    const before = list()

    const socket = ask()
    await once(socket, 'readable')
    await api.delete(`/v1/services/${id}`)
    await api.post('/v1/services', serviceBody())
    other.exec(`DELETE FROM services WHERE id = '${SERVICES - 1}'`)
    const { body } = await takeAll(socket)

    expect(body.equals(before)).toBe(true)
    expect((await takeAll(ask())).body.equals(list())).toBe(true)
  })

  test('a client that disconnects during a long list, or while it waits for one, leaves no resources in use', async () => {
    const { api, ask, untilNothingIsKept } = full
    const taking = ask()
    await once(taking, 'readable')
    const waiting = ask()
    await api.get('/v1/org')

    taking.destroy()
    waiting.destroy()

    await untilNothingIsKept()
    expect((await takeAll(ask('HEAD'))).head).toMatch(/^HTTP\/1\.1 200 /)
  })
})

const undo: Undo = []
afterEach(() => runAll(undo))

test.each([
  ['more slowly than is allowed', { mibMs: 1 }],
  ['not at all', { silenceMs: 1_500, mibMs: 60_000 }],
])(
  'a client that reads a long list %s is disconnected, and leaves no resources in use',
  async (_how, timeouts) => {
    const { list, ask, untilNothingIsKept } = await startFull(undo, timeouts)

    const socket = ask()
    await once(socket, 'readable')
    await untilNothingIsKept()

    expect((await takeAll(socket)).body.length).toBeLessThan(list().length)
  },
)

test('a long list that cannot be read to its end is cut off, and the reason is logged', async () => {
  const { dataDir, ask, logged, other, untilNothingIsKept } = await startFull(undo)
  await untilNothingIsKept()
  const half = other.prepare<[], number>('PRAGMA page_count').pluck()
  const socket = ask()
  await once(socket, 'readable')

  truncateSync(databaseFile(dataDir), ((half.get() ?? 0) / 2) * 4_096)
  await takeAll(socket)

  expect(logged()).toMatch(/"status":200.*"code":"SQLITE_.*"request failed"/)
})
