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
import type { ResponseBounds } from '../http/transport/responseBudget.ts'
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
  /** Plan of the first organisation. Default: business. */
  readonly plan?: string
  /** A folder to use and keep. Default: a temporary one, which is removed on close. */
  readonly dataDir?: string
  /** The kind of database. Default: `testEngineName()`. */
  readonly engine?: TestEngineName
  /** Certificate of all listeners; absent for no TLS. */
  readonly tls?: TlsFiles
  /** Port to listen on. Default: any free one. */
  readonly port?: number
  /**
   * The contract's 20 requests and 5 a second for each key (default), another rate, or no limit for tests of other
   * features.
   */
  readonly rateLimit?: 'contract' | 'none' | BucketRate
  /** Clock of the rate limit and of all monotonic times (milliseconds). Default: the real one. */
  readonly monotonicMs?: () => number
  readonly environment?: Partial<Environment>
  readonly allowedRanges?: readonly string[]
  /** Ranges that notifications may reach. Default: none. */
  readonly webhookRanges?: readonly string[]
  /** URLs of the proxies for checks and notifications. Default: none. */
  readonly checkProxy?: string
  readonly webhookProxy?: string
  /** Whether services are checked. Default: no, because most tests name internet hosts that must not be contacted. */
  readonly isMonitoring?: boolean
  readonly bus?: Bus
  /** Timeouts for clients that replace the default ones. */
  readonly timeouts?: Partial<Timeouts>
  /** Memory bounds for responses that replace the default ones. */
  readonly responseBounds?: Partial<ResponseBounds>
  /** Maximum number of connections. Default: more than any test opens. */
  readonly connectionsMax?: number
  readonly logLevel?: string
  /** Also serves status pages, with this origin if given. */
  readonly status?: { readonly url?: string }
  /** Also serves the console, with this origin if given. */
  readonly console?: Partial<ConsoleListening>
  /**
   * Starts on a copy that was restored from the backup of a used server, unless the folder has a database. Default:
   * whether the variable PHAROS_TEST_RESTORED is set.
   */
  readonly isRestored?: boolean
  /**
   * Puts a proxy in front that passes only the features of the API document, for tests of clients. Default: whether the
   * variable PHAROS_TEST_PLAIN is set.
   */
  readonly isPlain?: boolean
}

/** A real server on a real database, in this process, with one organisation and one key. */
export interface TestServer {
  readonly url: string
  readonly adminUrl: string
  /** URL for agents; '' unless services are checked. */
  readonly agentUrl: string
  /** URL of the status pages; '' unless they are served. */
  readonly statusUrl: string
  /** URL of the console; '' unless it is served. */
  readonly consoleUrl: string
  readonly dataDir: string
  readonly engine: Engine
  /** The flags with which a subcommand finds the server's data. */
  readonly flags: readonly string[]
  readonly store: Store
  /** Writes a backup of the database to `file`. Only for SQLite. */
  readonly backUp: (file: string) => Promise<void>
  readonly orgId: string
  /** A read_write key of the first organisation. */
  readonly apiKey: string
  /** The log so far. */
  readonly logged: () => string
  /** Creates a read_only key of the first organisation. */
  readonly readOnlyKey: () => Promise<string>
  /** Creates an organisation. Resolves with its id. */
  readonly createOrg: (options?: { name?: string; plan?: string }) => Promise<string>
  /** Creates a key, by default a read_write key of the first organisation. Resolves with the key in plain text. */
  readonly createKey: (options?: { orgId?: string; scope?: Scope }) => Promise<string>
  readonly overrideLimits: (overrides: LimitOverrides, orgId?: string) => Promise<void>
  /** Publishes all commands in the outbox. */
  readonly publishCommands: () => Promise<void>
  /** Commands so far, in order of publication and in the form of `pharos-server commands --json`. */
  readonly commands: () => Promise<readonly ShownCommand[]>
  /** Stops the server, and removes its folder if it was created for it. */
  readonly close: () => Promise<void>
}

export interface ShownCommand {
  readonly type: string
  readonly region: string
  readonly service_id: string
}

const UNLIMITED: SpendRequest = () => ({ isAllowed: true, remaining: 20, fullInMs: 0 })

/** The limiter; `null` for the contract's limit, which all processes of a database share. */
function limiterOf({ rateLimit = 'contract', monotonicMs: clock = monotonicMs }: StartServerOptions) {
  if (rateLimit === 'none') return UNLIMITED
  return rateLimit === 'contract' ? null : keyBuckets(clock, rateLimit)
}

/** Starts a server for a test. It listens only on 127.0.0.1. */
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
    consoleUrl: options.console?.url,
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
    ...(options.responseBounds === undefined ? {} : { responseBounds: options.responseBounds }),
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
      // Without a proxy the server closes in this turn of the event loop, so that the next client is refused.
      if (plain !== undefined) await plain.close()
      await program.close()
      if (options.dataDir !== undefined) return
      await used.remove()
      await removeFolder(dataDir)
    },
  }
}

/** The database of a server in `dataDir`. Only SQLite can be restored from a backup. */
async function engineFor(dataDir: string, options: StartServerOptions, environment: Environment) {
  const parts = { nowMs: environment.nowMs, bucketsMs: options.monotonicMs }
  if ((options.engine ?? testEngineName()) === 'postgres') {
    const file = defaultKeyFile(dataDir)
    // A server does not create the master key of a shared database.
    if (!existsSync(file)) await writeFile(file, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600 })
    return await postgresForTest(dataDir, parts)
  }
  const isRestored = options.isRestored ?? Boolean(process.env.PHAROS_TEST_RESTORED)
  const isMissing = !existsSync(databaseFile(dataDir))
  if (isRestored && isMissing) await restoreCopy(dataDir)
  return sqliteForTest(dataDir, !isRestored && isMissing && options.dataDir === undefined, parts)
}

/** Creates `dataDir` from the backup of a server with services, sealed values, an incident and commands. */
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
  // After the backup, so that it is not in the copy and does not disturb it.
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
