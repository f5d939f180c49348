import { setTimeout as sleep } from 'node:timers/promises'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { type LossyProxy, startLossyProxy } from '../postgres/lossyProxy.ts'
import type { ServerProcess } from '../serverProcess.ts'
import { fillDiskOf } from './fullDatabase.ts'
import { differences, emptyLedger } from './ledger.ts'
import { type PostgresServer, startPostgres } from './replicatedPostgres.ts'
import { seedOrg, shareDatabase } from './sharedDatabase.ts'
import { startWriters, type WriterStats } from './writers.ts'

/** Duration of a database crash, and of a network outage (milliseconds). */
const DOWN_MS = 2_000
const SILENT_MS = 10_000
/** Time for which another program locks the organisation, longer than a mutation waits (milliseconds). */
const LOCKED_MS = 3_000
/** Number of writing clients, and of the servers that they use. */
const WRITERS = 8
const SERVERS = 3
/** Enough keys that the rate limit of a key is seldom reached. */
const KEYS_PER_WRITER = 20
/** Maximum wait for a successful change after a fault (milliseconds). */
const RECOVERY_MS_MAX = 60_000

/** The parts on which a fault can act. */
export interface Scene {
  /** The primary. */
  database: PostgresServer
  /** The proxy between the servers and the primary. */
  readonly proxy: LossyProxy
  readonly servers: ServerProcess[]
  readonly startServer: () => Promise<ServerProcess>
  /** The organisation whose clients write. */
  orgId: string
  /** Resets the measured pauses before a fault, such as those caused by its preparation in this process. */
  restartPauses: () => void
  /** Time for which writers run before and after a fault (milliseconds). */
  readonly calmMs: number
  /**
   * Work to do after the writers have stopped. Removing a folder, for example, would block them like a longer outage.
   */
  afterwards: () => void
}

/** Inflicts a fault. Resolves with the time in which no server could write (milliseconds), if known. */
type Inflict = (scene: Scene) => Promise<unknown>

export const FAULTS = {
  'restart of the database': ({ database }) => database.restart(),
  'crash of the database': async ({ database }) => {
    await database.stop('immediate')
    await sleep(DOWN_MS)
    await database.start()
  },
  'connections ended on the server': async ({ database }) => {
    for (let times = 0; times < 5; times += 1) {
      await withConnection(database.url, (client) =>
        client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pharos-server' AND pid <> pg_backend_pid()",
        ),
      )
      await sleep(200)
    }
  },
  'replies lost': async ({ proxy }) => {
    for (let times = 0; times < 20; times += 1) {
      await Promise.race([proxy.loseResponseTo('"eu-west-1"'), sleep(1_000)])
    }
  },
  'network that passes nothing': async ({ proxy }) => {
    proxy.silence()
    await sleep(SILENT_MS)
    proxy.restore()
  },
  'network that goes away': async ({ proxy }) => {
    proxy.cut()
    await sleep(DOWN_MS)
    proxy.restore()
  },
  'kill of a server': async ({ servers, startServer }) => {
    await servers.shift()?.kill()
    servers.push(await startServer())
  },
  'organisation locked by another program': ({ database, orgId }) =>
    withConnection(database.url, async (client) => {
      await client.query('BEGIN')
      await client.query('SELECT 1 FROM orgs WHERE id = $1 FOR UPDATE', [orgId])
      await sleep(LOCKED_MS)
      await client.query('ROLLBACK')
    }),
  'disk of the database full': ({ database }) => fillDiskOf(database.url),
  failover: async (scene) => {
    const old = scene.database
    const standby = await old.makeStandby()
    await sleep(scene.calmMs)
    scene.restartPauses()
    const killedMs = performance.now()
    old.kill()
    scene.proxy.cut()
    await standby.promote()
    scene.proxy.redirect(standby.url)
    scene.proxy.restore()
    const outageMs = performance.now() - killedMs
    scene.database = standby
    scene.afterwards = () => old.remove()
    return outageMs
  },
} satisfies Record<string, Inflict>

export type Fault = keyof typeof FAULTS

/** The result of a fault's run. */
export interface FaultReport {
  readonly stats: Readonly<WriterStats>
  /** Differences between the responses to clients and the stored data; empty when there are none. */
  readonly problems: readonly string[]
  /** Time in which no server could write (milliseconds), if known. */
  readonly outageMs: number | undefined
}

/** The servers, the database and the network between them, which the rounds of all faults share. */
export interface Installation {
  /** Inflicts `fault` while writers work, and compares their responses with the database. */
  readonly run: (fault: Fault, random: () => number) => Promise<FaultReport>
  readonly close: () => Promise<void>
}

/**
 * Starts a database, a proxy in front of it, and the servers. Each writer pauses for `pauseMs` after a change; `calmMs`
 * is the time for which writers run before and after a fault (milliseconds).
 */
export async function openInstallation({
  pauseMs,
  calmMs = 1_000,
}: {
  readonly pauseMs?: number
  readonly calmMs?: number
} = {}): Promise<Installation> {
  const database = await startPostgres()
  const proxy = await startLossyProxy(database.url)
  const shared = shareDatabase(proxy.url)
  const servers: ServerProcess[] = [await shared.start()]
  while (servers.length < SERVERS) servers.push(await shared.start())
  const scene: Scene = {
    database,
    proxy,
    servers,
    startServer: () => shared.start(),
    orgId: '',
    calmMs,
    restartPauses: () => {},
    afterwards: () => {},
  }
  return {
    run: async (fault, random) => {
      const { orgId, keys } = await seedOrg(scene.database.url, WRITERS * KEYS_PER_WRITER, {
        ...{ servicesMax: 1_000_000, endpointsMax: 1_000_000 },
      })
      scene.orgId = orgId
      const ledger = emptyLedger()
      const urls = () => scene.servers.map(({ url }) => url)
      const writers = startWriters({
        servers: urls,
        keys,
        writers: WRITERS,
        random,
        ledger,
        ...(pauseMs !== undefined && { pauseMs }),
      })
      scene.restartPauses = writers.restartPauses
      await sleep(calmMs)
      const inflict: Inflict = FAULTS[fault]
      const outage = await inflict(scene)
      const outageMs = typeof outage === 'number' ? outage : undefined
      const made = writers.stats.made
      const deadlineMs = performance.now() + RECOVERY_MS_MAX
      while (writers.stats.made < made + WRITERS && performance.now() < deadlineMs) await sleep(50)
      await sleep(calmMs)
      await writers.stop()
      scene.afterwards()
      scene.afterwards = () => {}
      const problems = await differences(scene.database.url, orgId, ledger)
      const isBack = writers.stats.made >= made + WRITERS
      return {
        ...{ stats: writers.stats, outageMs },
        problems: isBack ? problems : [...problems, 'no change succeeds any more'],
      }
    },
    close: async () => {
      await Promise.all(scene.servers.map((server) => server.kill()))
      await proxy.close()
      scene.database.remove()
      await shared.remove()
    },
  }
}
