import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LOCK_LEASE } from '../../results/postgres/postgresResults.ts'
import { openStore } from '../../store/postgres/openStore.ts'
import { connect, withConnection } from '../../store/postgres/schema/migrate.ts'
import type { LeaseRow, MonitoringLease, Store } from '../../store/store.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS } from '../../testing/storedServices.ts'
import { followLease, type LeasedWork, RENEWAL_MS } from './followLease.ts'

const log = pino({ level: 'silent' })
let url: string
let stores: readonly Store[]
const following: LeasedWork<{ stop: () => Promise<void> }>[] = []

beforeEach(async () => {
  url = await (await sharedCluster()).createMigrated()
  stores = await Promise.all([1, 2].map(() => openStore(url, STOPPED_CLOCKS)))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(async () => {
  for (const one of following.splice(0)) await one.stop()
  vi.useRealTimers()
  await Promise.all(stores.map((store) => store.close()))
})

// True because the stores are in PostgreSQL.
const leaseOf = (index: number) => stores[index]?.monitoringLease as MonitoringLease
const run = (statement: string) => withConnection(url, async (client) => (await client.query(statement)).rows)
const expire = () => run("UPDATE leases SET until = clock_timestamp() - interval '1 s'")
const isValid = async (): Promise<boolean> =>
  (await run('SELECT until > clock_timestamp() AS valid FROM leases'))[0]?.valid

/** Number of statements that wait for a lock. */
const areWaiting = async (): Promise<number> =>
  (
    await run(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
  )[0]?.count

test('a lease is renewed while the work that it is for starts', async () => {
  let finish = () => {}
  const started = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const start = async () => {
    begin()
    await started
    return { stop: async () => {} }
  }

  const pending = followLease({ lease: leaseOf(0), start, log })
  await begun
  for (let renewals = 0; renewals < 2; renewals += 1) {
    await expire()
    vi.advanceTimersByTime(RENEWAL_MS)
    await expect.poll(isValid).toBe(true)
  }

  finish()
  following.push(await pending)
})

test('a lease that cannot be renewed is logged once a minute, and once when it can be renewed again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const lines: string[] = []
  const lease = leaseOf(0)
  let attempts = 0
  const counted: MonitoringLease = {
    ...lease,
    acquire: async (address) => {
      try {
        return await lease.acquire(address)
      } finally {
        attempts += 1
      }
    },
  }
  following.push(
    await followLease({
      lease: counted,
      start: async () => ({ stop: async () => {} }),
      log: pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line).msg) }),
    }),
  )
  const renewFor = async (durationMs: number) => {
    for (let spentMs = 0; spentMs < durationMs; spentMs += RENEWAL_MS) {
      const before = attempts
      vi.advanceTimersByTime(RENEWAL_MS)
      // Not expect.poll, which advances the clock.
      while (attempts === before) await sleep(1)
    }
  }

  await run('ALTER TABLE leases RENAME TO hidden')
  await renewFor(90_000)
  await run('ALTER TABLE hidden RENAME TO leases')
  await renewFor(3 * RENEWAL_MS)

  expect(lines).toEqual([
    'this server monitors now',
    'the monitoring lease could not be renewed',
    'the monitoring lease could not be renewed',
    'the monitoring lease can be renewed again',
  ])
})

test('a start that a stop ends is not logged as a failure', async () => {
  const lines: string[] = []
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const start = (_row: LeaseRow, signal: AbortSignal) => {
    begin()
    return new Promise<{ stop: () => Promise<void> }>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  }
  await leaseOf(0).acquire(null)
  const leased = await followLease({
    ...{ lease: leaseOf(1), start },
    log: pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line).msg) }),
  })

  await leaseOf(0).release()
  vi.advanceTimersByTime(RENEWAL_MS)
  await begun
  await leased.stop()

  expect(lines).toEqual([])
})

test('work starts anew when another server held the lease meanwhile', async () => {
  const terms: LeaseRow[] = []
  const ended: LeaseRow[] = []
  const start = async (row: LeaseRow) => {
    terms.push(row)
    return {
      stop: async () => {
        ended.push(row)
      },
    }
  }
  following.push(await followLease({ lease: leaseOf(0), start, log }))

  // This server was suspended: it has not noticed that another one had the lease, and released it.
  await expire()
  const other = await leaseOf(1).acquire(null)
  await leaseOf(1).release()
  vi.advanceTimersByTime(RENEWAL_MS)

  await expect.poll(() => terms.length).toBe(2)
  expect(other.row).not.toBeNull()
  expect(ended).toEqual([terms[0]])
  expect(terms[1]?.holder).not.toBe(terms[0]?.holder)
})

test('a transaction of results delays neither a renewal nor a refusal, and prevents a change of the holder', async () => {
  const { row } = await leaseOf(0).acquire(null)
  const results = await connect(url, 'results')
  await results.query('BEGIN')
  await results.query(LOCK_LEASE, [row?.name, row?.holder])

  const renewed = await leaseOf(0).acquire('http://127.0.0.1:7175')
  const refused = await leaseOf(1).acquire(null)
  await expire()
  const timedOut = await leaseOf(1).acquire(null)
  const taking = leaseOf(1).acquire(null)
  await expect.poll(areWaiting).toBe(1)
  await results.query('COMMIT')

  expect(renewed).toEqual({ row, address: 'http://127.0.0.1:7175' })
  expect(refused).toEqual({ row: null, address: 'http://127.0.0.1:7175' })
  // The server that asks waits two seconds, and starts without the lease.
  expect(timedOut).toEqual(refused)
  expect((await taking).row).not.toBeNull()
  await results.end()
})
