import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Agent } from 'undici'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

test('a server with 128 descriptors serves its clients despite 150 slow connections that reconnect', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  const keys = await makeKeys(dataDir, await makeOrg(dataDir), 2)
  const under = ['sh', '-c', 'ulimit -n 128 && exec "$0" "$@"']
  const server = await startProcess(dataDir, ['--admin-port', '0'], { under })
  const dripping = new Set<Socket>()
  let isOver = false
  const drip = (): void => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
      socket.write('GET /v1/org HTTP/1.1\r\nX: '),
    )
    dripping.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      dripping.delete(socket)
      if (!isOver) setImmediate(drip)
    })
  }
  for (let made = 0; made < 150; made += 1) drip()

  const statuses: number[] = []
  for (const key of keys) {
    for (let asked = 0; asked < 10; asked += 1) {
      const dispatcher = new Agent()
      const api = apiClient(server.url, key)
      statuses.push((await api.post('/v1/services', serviceBody(), { dispatcher })).status)
      await dispatcher.close()
    }
  }
  const ready = await fetch(`${server.adminUrl()}/readyz`)
  isOver = true
  for (const socket of dripping) socket.destroy()
  const code = await server.stop()

  expect([new Set(statuses), ready.status, code, server.stderr()]).toEqual([new Set([201]), 200, 0, ''])
})
