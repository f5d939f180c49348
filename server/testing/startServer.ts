import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Scope } from '../../api/contract/org.ts'
import type { BucketRate } from '../../api/contract/tokenBucket.ts'
import type { Bus } from '../bus/bus.ts'
import type { ConsoleListening } from '../console/startConsole.ts'
import { hashKey, mintKey } from '../domain/apiKeys.ts'
import type { Environment } from '../domain/environment.ts'
import { KEY_BYTES } from '../domain/seal.ts'
import { keyBuckets, type SpendRequest } from '../http/rateLimit.ts'
import type { AnswerBounds } from '../http/transport/answerBudget.ts'
import type { Timeouts } from '../http/transport/timeouts.ts'
import type { TlsFiles } from '../process/certificateFiles.ts'
import { startProgram } from '../process/program.ts'
import { createLog } from '../process/requestLog.ts'
import { monotonicMs, systemEnvironment } from '../process/systemEnvironment.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import type { Engine } from '../store/engine.ts'
import { backupDatabase } from '../store/sqlite/files/backupDatabase.ts'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import { restoreDatabase } from '../store/sqlite/files/restoreDatabase.ts'
import type { LimitOverrides, Store } from '../store/store.ts'
import { apiClient } from './apiClient.ts'
import { plainKey, startPlainServer } from './plainServer.ts'
import { endpointBody, serviceBody } from './serviceBodies.ts'
import { postgresForTest, sqliteForTest, type TestEngineName, testEngineName } from './testEngine.ts'

export interface StartServerOptions {
  /** Plan of the first organisation; business when absent. */
  readonly plan?: string
  /** A folder to use and keep; default a temporary one, removed on close. */
  readonly dataDir?: string
  /** The kind of database; when absent, as `testEngineName`. */
  readonly engine?: TestEngineName
  /** Certificate of all listeners; without TLS when absent. */
  readonly tls?: TlsFiles
  /** Port to listen on; any free one when absent. */
  readonly port?: number
  /**
   * The contract's 20 requests and 5 a second for each key (default), another rate, or no limit for tests of something
   * else.
   */
  readonly rateLimit?: 'contract' | 'none' | BucketRate
  /** Clock of the rate limit and of everything monotonic (milliseconds); default the real one. */
  readonly monotonicMs?: () => number
  readonly environment?: Partial<Environment>
  readonly allowedRanges?: readonly string[]
  /** Ranges that notifications may reach; none when absent. */
  readonly webhookRanges?: readonly string[]
  /** URLs of the proxies for checks and notifications; none when absent. */
  readonly checkProxy?: string
  readonly webhookProxy?: string
  /** Whether services are checked; default off, because most tests name internet hosts that must not be contacted. */
  readonly isMonitoring?: boolean
  readonly bus?: Bus
  /** Timeouts for clients; default as usual. */
  readonly timeouts?: Partial<Timeouts>
  /** What answers under way may hold; as usual when absent. */
  readonly answerBounds?: Partial<AnswerBounds>
  /** Most connections; more than a test opens when absent. */
  readonly connectionsMax?: number
  readonly logLevel?: string
  /** Serves status pages too, under this origin if it is given. */
  readonly status?: { readonly url?: string }
  /** Serves the console too, under this origin if it is given. */
  readonly console?: Partial<ConsoleListening>
  /**
   * Starts on a copy that was restored from the backup of a server that was in use, unless the folder has a
   * database. When absent: whether the variable PHAROS_TEST_RESTORED is set.
   */
  readonly isRestored?: boolean
  /**
   * Puts a proxy in front that passes only the API document's features, for tests of its clients. Default: whether the
   * variable PHAROS_TEST_PLAIN is set.
   */
  readonly isPlain?: boolean
}

/** A real server on a real database, in this process, with one organisation and one key. */
export interface TestServer {
  readonly url: string
  readonly adminUrl: string
  /** Where agents connect; '' unless services are checked. */
  readonly agentUrl: string
  /** Where status pages are; '' unless they are served. */
  readonly statusUrl: string
  /** Where the console is; '' unless it is served. */
  readonly consoleUrl: string
  readonly dataDir: string
  readonly engine: Engine
  /** The flags with which a subcommand finds the data of the server. */
  readonly flags: readonly string[]
  readonly store: Store
  /** Writes a backup of the database to `file`; of SQLite only. */
  readonly backUp: (file: string) => Promise<void>
  readonly orgId: string
  /** A read_write key of the first organisation. */
  readonly apiKey: string
  /** Everything logged so far. */
  readonly logged: () => string
  /** A new read_only key of the first organisation. */
  readonly readOnlyKey: () => Promise<string>
  /** A new organisation; its id. */
  readonly createOrg: (options?: { name?: string; plan?: string }) => Promise<string>
  /** A new key in clear; default read_write and of the first organisation. */
  readonly createKey: (options?: { orgId?: string; scope?: Scope }) => Promise<string>
  readonly overrideLimits: (overrides: LimitOverrides, orgId?: string) => Promise<void>
  /** Publishes all commands in the outbox. */
  readonly publishCommands: () => Promise<void>
  /** Commands so far, in order of publication, as `pharos-server commands --json` shows them. */
  readonly commands: () => Promise<readonly ShownCommand[]>
  /** Stops the server and removes its folder if it was made for it. */
  readonly close: () => Promise<void>
}

export interface ShownCommand {
  readonly type: string
  readonly region: string
  readonly service_id: string
}

const UNLIMITED: SpendRequest = () => ({ isAllowed: true, remaining: 20, fullInMs: 0 })

/** `null` for the limit of the contract, on which the processes of one database agree. */
function limiterOf({ rateLimit = 'contract', monotonicMs: clock = monotonicMs }: StartServerOptions) {
  if (rateLimit === 'none') return UNLIMITED
  return rateLimit === 'contract' ? null : keyBuckets(clock, rateLimit)
}

/** Starts a server for a test. It listens on 127.0.0.1 only. */
export async function startServer(options: StartServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'pharos-server-')))
  const environment: Environment = { ...systemEnvironment, ...options.environment }
  const lines: string[] = []
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString())
      done()
    },
  })
  const used = await engineFor(dataDir, options, environment)
  const { engine } = used
  const program = await startProgram({
    engine,
    dataDir: used.dataDir,
    host: '127.0.0.1',
    port: options.port ?? 0,
    adminHost: '127.0.0.1',
    connectionsMax: options.connectionsMax ?? 10_000,
    adminPort: 0,
    agents:
      options.isMonitoring === true
        ? { host: '127.0.0.1', port: 0, ...(options.tls && { tls: options.tls }) }
        : null,
    status: options.status === undefined ? null : { host: '127.0.0.1', port: 0, ...options.status },
    console: options.console === undefined ? null : { host: '127.0.0.1', port: 0, ...options.console },
    monotonicMs: options.monotonicMs ?? monotonicMs,
    keySource: { kind: 'file', file: defaultKeyFile(dataDir) },
    allowedRanges: options.allowedRanges ?? [],
    webhookRanges: options.webhookRanges ?? [],
    checkProxy: options.checkProxy,
    webhookProxy: options.webhookProxy,
    isMonitoring: options.isMonitoring ?? false,
    environment,
    spendRequest: limiterOf(options),
    tls: options.tls,
    hasAdminTls: options.tls !== undefined,
    log: createLog(destination, options.logLevel ?? 'info'),
    ...(options.bus === undefined ? {} : { bus: options.bus }),
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
    ...(options.answerBounds === undefined ? {} : { answerBounds: options.answerBounds }),
  })
  const { store } = program
  const createOrg: TestServer['createOrg'] = async ({ name = 'Acme', plan = 'business' } = {}) => {
    const id = environment.uuid()
    await store.createOrg({ id, name, plan, nowMs: environment.nowMs() })
    return id
  }
  const orgId = await createOrg({ plan: options.plan ?? 'business' })
  const isPlain = options.isPlain ?? Boolean(process.env.PHAROS_TEST_PLAIN)
  const plain = isPlain ? await startPlainServer(program.url) : undefined
  const createKey: TestServer['createKey'] = async (wanted = {}) => {
    const key = await storeKey(store, environment, { orgId, scope: 'read_write', ...wanted })
    return plain === undefined ? key : plainKey(key)
  }
  return {
    url: plain?.url ?? program.url,
    adminUrl: program.adminUrl ?? '',
    agentUrl: program.agentUrl ?? '',
    statusUrl: program.statusUrl ?? '',
    consoleUrl: program.consoleUrl ?? '',
    dataDir,
    engine,
    flags: used.flags,
    store,
    backUp: (file) => backupDatabase(databaseFile(dataDir), file),
    orgId,
    apiKey: await createKey(),
    logged: () => lines.join(''),
    readOnlyKey: () => createKey({ scope: 'read_only' }),
    createOrg,
    createKey,
    overrideLimits: (overrides, org = orgId) => store.overrideLimits(org, overrides),
    publishCommands: program.publishCommands,
    commands: async () =>
      (await store.listCommands()).map(({ type, region, serviceId }) => ({
        type,
        region,
        service_id: serviceId,
      })),
    close: async () => {
      // Without a proxy the server closes in this turn: a client that comes next is turned away.
      if (plain !== undefined) await plain.close()
      await program.close()
      if (options.dataDir !== undefined) return
      await used.remove()
      await removeFolder(dataDir)
    },
  }
}

/** The database of a server in `dataDir`. Only SQLite's can be restored from a backup. */
async function engineFor(dataDir: string, options: StartServerOptions, environment: Environment) {
  const parts = { nowMs: environment.nowMs, bucketsMs: options.monotonicMs }
  if ((options.engine ?? testEngineName()) === 'postgres') {
    const file = defaultKeyFile(dataDir)
    // No server makes the key of a database that it shares.
    if (!existsSync(file)) await writeFile(file, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600 })
    return await postgresForTest(dataDir, parts)
  }
  const isRestored = options.isRestored ?? Boolean(process.env.PHAROS_TEST_RESTORED)
  const isMissing = !existsSync(databaseFile(dataDir))
  if (isRestored && isMissing) await restoreCopy(dataDir)
  return sqliteForTest(dataDir, !isRestored && isMissing && options.dataDir === undefined, parts)
}

/** Makes `dataDir` from the backup of a server that has services, sealed values, an incident and commands. */
async function restoreCopy(dataDir: string): Promise<void> {
  const original = await startServer({ engine: 'sqlite', rateLimit: 'none', isRestored: false })
  const api = apiClient(original.url, original.apiKey)
  const token = { value: 'hush', sensitive: true }
  const call = { Http: { method: 'GET' as const, timeout: null, headers: { 'X-Token': token } } }
  const { json } = await api.post('/v1/services', serviceBody({ endpoints: [endpointBody({ call })] }))
  const id = typeof json === 'object' && json !== null && 'id' in json ? json.id : undefined
  await api.post('/v1/services', serviceBody({ name: 'Cart' }))
  await api.post('/v1/incidents', { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] })
  const backup = `${original.dataDir}.backup`
  await original.backUp(backup)
  // After the backup: it must not be in the copy, and not disturb it.
  await api.delete(`/v1/services/${id}`)
  await restoreDatabase(backup, dataDir)
  await copyFile(defaultKeyFile(original.dataDir), defaultKeyFile(dataDir))
  await original.close()
  await rm(backup)
}

async function storeKey(
  store: Store,
  environment: Environment,
  { orgId, scope }: { readonly orgId: string; readonly scope: Scope },
): Promise<string> {
  const key = mintKey(systemEnvironment)
  await store.createKey({
    id: environment.uuid(),
    orgId,
    scope,
    hash: hashKey(key),
    last4: key.slice(-4),
    createdBy: null,
    note: null,
    by: { kind: 'system' },
    nowMs: environment.nowMs(),
  })
  return key
}

async function removeFolder(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true })
  await rm(defaultKeyFile(dataDir), { force: true })
}
