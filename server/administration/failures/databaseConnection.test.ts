import dns from 'node:dns'
import { type AddressInfo, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { testAuthority } from '../../../monitoring/check/testing/certificates.ts'
import { openPools } from '../../store/postgres/connections/pools.ts'
import { connect } from '../../store/postgres/schema/migrate.ts'
import { failureOf } from './failure.ts'

/** Speaks TLS as PostgreSQL does, and refuses other connections as its pg_hba.conf may. */
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (request) => {
    if (request.length > 8) {
      const text = 'SFATAL\0VFATAL\0C28000\0Mno pg_hba.conf entry for host "127.0.0.1", no encryption\0\0'
      const length = Buffer.alloc(4)
      length.writeInt32BE(text.length + 4)
      socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(text)]))
      return
    }
    socket.write('S')
    new TLSSocket(socket, { isServer: true, ...testAuthority().valid }).on('error', () => {})
  })
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())
// No connection times out, however slow the machine is.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Why no connection is made to the database whose URL ends with `place`. */
async function failureAt(place: string) {
  return failureOf(await connect(`postgresql://user@${place}`).catch((error: unknown) => error))
}
// True because the server listens on a port.
const port = () => (server.address() as AddressInfo).port

test('a database that needs TLS, or has an untrusted certificate, is reported with the remedy', async () => {
  expect(await failureAt(`127.0.0.1:${port()}/p`)).toEqual({
    code: 'E_DATABASE',
    message:
      'the database refuses: no pg_hba.conf entry for host "127.0.0.1", no encryption: add "?sslmode=verify-full" to its URL, if it needs TLS',
  })
  expect(await failureAt(`127.0.0.1:${port()}/p?sslmode=verify-full`)).toEqual({
    code: 'E_DATABASE',
    message:
      'the certificate of the database is not trusted (unable to verify the first certificate): name its authority with "sslrootcert=FILE" in the URL',
  })
})

test('a host of a database without an address is not taken for one to listen on', async () => {
  expect(await failureAt('database.invalid/p')).toEqual({
    code: 'E_DATABASE',
    message: 'the database cannot be reached: its host database.invalid has no address',
  })
})

test('the first address of a host that cannot be connected to is named, in an outage as well', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  // True because it listens on a port.
  const address = `127.0.0.1:${(closed.address() as AddressInfo).port}`
  await new Promise((resolve) => closed.close(resolve))
  const place = `both.example:${address.split(':')[1]}/p`
  const addresses = ['127.0.0.1', '127.0.0.2'].map((one) => ({ address: one, family: 4 }))
  const lookup = (_host: string, _options: object, found: (...all: readonly unknown[]) => void) =>
    found(null, addresses)
  // True because a connection asks for all addresses.
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as typeof dns.lookup)
  let nowMs = 0
  const pools = openPools(`postgresql://user@${place}`, () => (nowMs += 2_000))
  const outage = new Promise((resolve) => pools.onOutage(resolve))

  const failure = await failureAt(place)
  await pools.write.rows('SELECT 1').catch(() => {})
  const reason = await outage
  await pools.close()

  const text = `connect ECONNREFUSED ${address}`
  expect(failure).toEqual({
    code: 'E_DATABASE',
    message: `the database at ${address} cannot be reached: ${text}`,
  })
  expect(reason).toBe(text)
})
