import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { AttemptClock } from '../outcome/attemptClock.ts'
import { checkOf } from '../testing/checkedServer.ts'
import { dial } from './dial.ts'

/** A broadcast address, to which the system refuses to connect as to an address without a route. */
const WITHOUT_ROUTE = '127.255.255.255'

test.each([
  [true, 'connect_unreachable', `${WITHOUT_ROUTE}:80 (IPv4) cannot be reached (ENETUNREACH)`],
  [false, 'agent_local', `this machine could not connect to ${WITHOUT_ROUTE}:80 (IPv4) (ENETUNREACH)`],
])(
  'if the machine has a route for other addresses (%s), an address without one is %s',
  async (hasRoute, reason, text) => {
    const clock = new AttemptClock(10_000, () => performance.now() * 1_000)

    const dialling = dial(WITHOUT_ROUTE, 80, clock, { isForbidden: () => false, hasRoute: () => hasRoute })

    await expect(dialling).rejects.toMatchObject({ reason, message: text })
    clock.close()
  },
)

/** Listens without accepting connections, so that waiting ones fill its queue. */
const DEAF = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  require('fs').writeSync(1, String(this.address().port))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

test('a host that does not respond to a connection gives connect_timeout', async () => {
  const deaf = spawn(process.execPath, ['-e', DEAF])
  const [chunk] = await once(deaf.stdout, 'data')
  const port = Number(chunk)
  const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await once(waiting[0] ?? deaf, 'connect')

  const timeout = { secs: 0, nanos: 200_000_000 }
  const result = await checkOf({ url: `http://127.0.0.1:${port}/`, http: { timeout } })
  for (const socket of waiting) socket.destroy()
  deaf.kill('SIGKILL')

  expect(result).toMatchObject({
    ...{ outcome: 'down', reason: 'connect_timeout', text: 'there was no connection within 0.2 s' },
    ...{ status: 0, attempts: 1 },
  })
})
