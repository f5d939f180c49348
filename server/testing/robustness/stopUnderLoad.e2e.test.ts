import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

const IN_FLIGHT = 150
const BODY = JSON.stringify(serviceBody())

/** A request that has reached the server, as its 100 Continue shows. */
interface InFlight {
  readonly finish: () => void
  /** First line of the response. */
  readonly statusLine: Promise<string>
}

async function begin(port: number, key: string): Promise<InFlight> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  socket.write(
    `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`,
  )
  await once(socket, 'data')
  const statusLine = once(socket, 'close').then(() => text.split('\r\n\r\n')[1]?.split('\r\n')[0] ?? text)
  return { finish: () => socket.write(BODY), statusLine }
}

/** Resolves when no process listens on `port`. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isTaken = await outcome(socket)
    socket.destroy()
    if (!isTaken) return
  }
}

function outcome(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
}

/** Reads without a pause until the server has stopped; resolves to the statuses of the responses. */
async function readOn(url: string, key: string): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>()
  const api = apiClient(url, key)
  for (;;) {
    try {
      statuses.add((await api.get('/v1/services')).status)
    } catch (error) {
      if (error instanceof Error && 'code' in error) return statuses
      throw error
    }
  }
}

test('C199 a server stopped under load responds to every request it has started, and exits with 0', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, IN_FLIGHT)
  const server = await startProcess(dataDir)
  const port = Number(new URL(server.url).port)
  const readers = keys.slice(0, 8).map((key) => readOn(server.url, key))
  const inFlight = await Promise.all(keys.map((key) => begin(port, key)))

  const stopped = server.stop()
  await refused(port)
  for (const { finish } of inFlight) finish()
  const lines = await Promise.all(inFlight.map(({ statusLine }) => statusLine))
  const code = await stopped
  const statuses = await Promise.all(readers)

  const store = await openStore(dataDir, () => 0)
  const stored = (await store.listServices(orgId)).length
  await store.close()
  expect(new Set(lines)).toEqual(new Set(['HTTP/1.1 201 Created']))
  expect([code, stored]).toEqual([0, IN_FLIGHT])
  expect(statuses.flatMap((each) => [...each]).filter((status) => status !== 200 && status !== 429)).toEqual(
    [],
  )
})
