import { constants, setPriority } from 'node:os'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { runLoad } from './load.ts'
import { CLIENTS, CREATES_PER_KEY } from './row.ts'

/** Settings of the load, which are sent first. Later messages are the number of creates in a round. */
export interface Target {
  readonly port: number
  readonly keys: readonly string[]
}

/** The requests of creates. Each client uses its own keys in order. */
function requestsOf(keys: readonly string[]): (index: number, client: number) => string {
  const body = JSON.stringify(serviceBody())
  const made = new Map<number, number>()
  return (_index, client) => {
    const before = made.get(client) ?? 0
    made.set(client, before + 1)
    const key = keys[Math.floor(before / CREATES_PER_KEY) * CLIENTS + client]
    return `POST /v1/services HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
}

// The load represents other machines, so the server has priority when both want a core.
setPriority(constants.priority.PRIORITY_LOW)
process.once('message', ({ port, keys }: Target) => {
  const request = requestsOf(keys)
  process.on('message', (requests: number) => {
    void runLoad({ port, connections: CLIENTS, requests, request }).then((report) => process.send?.(report))
  })
})
