import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { stderrLog } from '../../api/runtime/stderrLog.ts'
import { proxyOption } from '../../monitoring/program/proxyOption.ts'
import { readRanges } from '../../monitoring/program/readRanges.ts'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { connectionsFor, descriptorLimit } from '../process/connectionsMax.ts'
import { startProgram } from '../process/program.ts'
import { createLog } from '../process/requestLog.ts'
import { enforceStopDeadline } from '../process/stopDeadline.ts'
import { stopSignal } from '../process/stopSignal.ts'
import { monotonicMs, systemEnvironment } from '../process/systemEnvironment.ts'
import type { KeySource } from '../secrets/keyring.ts'
import type { Engine } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import { awaitDatabase } from './database/awaitDatabase.ts'
import { addBackupFlags, type BackupOptions, backupScheduleOf } from './options/backupOptions.ts'
import { LOG_LEVELS, MASTER_KEY_VARIABLE, setting, variableOf } from './options/configuration.ts'
import { addDatabaseFlags, type DatabasePlace, engineOf } from './options/databaseOption.ts'
import {
  agentListeningOf,
  consoleListeningOf,
  consoleUrlOption,
  type ListeningOptions,
  readOrigin,
  statusListeningOf,
} from './options/listening.ts'
import { keySourceOf, masterKeyOption } from './options/masterKeyOption.ts'
import { readGiven } from './options/readGiven.ts'
import { addTlsFlags, sharedTlsOf, type TlsOptions } from './options/tlsOptions.ts'
import { shellQuoted } from './text/shellQuoted.ts'

/** Maximum number of trusted proxies. */
const PROXIES_MAX = 9

interface ServeOptions extends DatabasePlace, BackupOptions, TlsOptions, ListeningOptions {
  readonly host: string
  readonly adminHost: string
  readonly port: number
  readonly adminPort?: number
  readonly masterKeyFile?: string
  readonly connectionsMax?: number
  readonly allowRanges: readonly string[]
  readonly allowWebhookRanges: readonly string[]
  readonly checkProxy?: string
  readonly webhookProxy?: string
  readonly migrate: 'yes' | 'never'
  readonly logLevel: string
}

/** Adds `serve`, which runs until one of STOP_SIGNALS. `environment` is process.env. */
export function addServeCommand(
  program: Command,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const command = program.command('serve').description('serve the API until SIGTERM, SIGINT or SIGHUP')
  addTlsFlags(addBackupFlags(addDatabaseFlags(command)))
  for (const option of optionsOf(command)) command.addOption(option)
  command
    .addHelpText(
      'after',
      `\nThe master key may also be given as ${MASTER_KEY_VARIABLE}, 64 hexadecimal digits.`,
    )
    .action(async (options: ServeOptions) => {
      const write = (text: string) => command.configureOutput().writeOut?.(text)
      await serve(options, keySourceOf(options, environment), write)
    })
}

function optionsOf(command: Command): readonly Option[] {
  return [
    portOption('--port <port>', 'port of the API, 0 for any free one').default(7171),
    hostOption('--host <host>', 'address of the API'),
    portOption('--admin-port <port>', 'port of /healthz, /readyz, /metrics and /docs (default: none)'),
    hostOption('--admin-host <host>', 'address of the admin port, independent of --host'),
    portOption('--agent-port <port>', 'port for agents on other machines (default: none)'),
    hostOption('--agent-host <host>', 'address of the agent port'),
    setting(
      '--agent-tls-cert <file>',
      'certificate chain of the agent port (PEM) (default: that of --tls-cert)',
    ),
    setting('--agent-tls-key <file>', 'private key of that certificate (PEM) (default: that of --tls-key)'),
    setting(
      '--agent-advertise-url <url>',
      'address of the agent port for other servers of the same database (default: its own address)',
    ).argParser(readAdvertisedUrl),
    portOption('--status-port <port>', 'port of the public status pages (default: none)'),
    hostOption('--status-host <host>', 'address of the status port'),
    setting(
      '--status-url <url>',
      'public address of the status pages; needed for pages with their own host names',
    ).argParser(readOrigin),
    portOption('--console-port <port>', 'port of the console (default: none)'),
    hostOption('--console-host <host>', 'address of the console port'),
    consoleUrlOption(' (default: http://localhost with its port)'),
    setting(
      '--trust-proxies <count>',
      'number of proxies in front of the console whose X-Forwarded-For is trusted',
    )
      .default(0)
      .argParser(wholeNumber(0, PROXIES_MAX)),
    masterKeyOption(),
    setting(
      '--connections-max <count>',
      'maximum number of connections, shared by API, status pages and console (default: three quarters of the file descriptors, at most 10000)',
    ).argParser(wholeNumber(2, 999_999)),
    rangesOption(
      '--allow-ranges <ranges>',
      'private address ranges that checks may reach, such as 10.0.0.0/8',
    ),
    rangesOption(
      '--allow-webhook-ranges <ranges>',
      'private address ranges that notifications may reach, also without TLS',
    ),
    proxySetting(command, 'check-proxy', 'URL of a proxy for all checks from this machine'),
    proxySetting(command, 'webhook-proxy', 'URL of a proxy for notifications'),
    setting('--monitor <on|off>', 'whether to check services; off serves API, console and status pages only')
      .choices(['on', 'off'])
      .default('on'),
    setting('--migrate <yes|never>', 'whether to bring the schema of the database up to date at the start')
      .choices(['yes', 'never'])
      .default('yes'),
    setting('--log-level <level>', 'minimum log level; logs go to stderr')
      .choices([...LOG_LEVELS])
      .default('info'),
  ]
}

function hostOption(flags: string, description: string): Option {
  // An empty host would listen on all addresses.
  return setting(flags, description).argParser(readGiven).default('127.0.0.1')
}

function portOption(flags: string, description: string): Option {
  return setting(flags, description).argParser(wholeNumber(0, 65_535))
}

function rangesOption(flags: string, description: string): Option {
  return setting(flags, description).argParser(readRanges).default([], 'none')
}

function proxySetting(command: Command, name: string, description: string): Option {
  return proxyOption(command, `--${name}`, description, variableOf(name))
}

function readAdvertisedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/.test(text)) return text
  throw new InvalidArgumentError('must be a URL such as http://10.0.0.5:7175, without a path')
}

async function serve(options: ServeOptions, source: KeySource, write: (text: string) => void): Promise<void> {
  const log = createLog(stderrLog(), options.logLevel)
  const { dataDir = null, host, port, adminHost, adminPort = null } = options
  const tls = sharedTlsOf(options)
  const backups = backupScheduleOf(options)
  const engine = engineOf(options, options.backupTo)
  // Before the database is awaited, which does not help when these options contradict one another.
  const listeners = {
    agents: agentListeningOf(options, tls),
    status: statusListeningOf(options),
    console: consoleListeningOf(options, tls !== undefined),
  }
  await awaitDatabase(engine, log)
  if (options.migrate === 'never') await assertMigrated(engine)
  const program = await startProgram({
    engine,
    dataDir,
    host,
    port,
    adminHost,
    adminPort,
    tls,
    hasAdminTls: options.adminTls === 'on',
    ...listeners,
    consoleUrl: options.consoleUrl,
    connectionsMax: options.connectionsMax ?? connectionsFor(descriptorLimit()),
    allowedRanges: options.allowRanges,
    webhookRanges: options.allowWebhookRanges,
    checkProxy: options.checkProxy,
    webhookProxy: options.webhookProxy,
    backups,
    isMonitoring: options.monitor === 'on',
    keySource: source,
    environment: systemEnvironment,
    monotonicMs,
    spendRequest: null,
    log,
  })
  const { url, adminUrl, agentUrl, statusUrl, consoleUrl } = program
  const version = packageJson.version
  const place = dataDir === null ? { database: engine.place } : { dataDir }
  const urls = { url, adminUrl, agentUrl, statusUrl, consoleUrl }
  log.info(
    { version, node: process.versions.node, ...place, schema: engine.schemaVersion, ...urls },
    'started',
  )
  for (const { check, health, text } of await engine.examine('start')) {
    if (health !== 'ok') log.warn({ check, health }, text)
  }
  const stopped = stopSignal()
  const places = { listening: url, admin: adminUrl, agents: agentUrl, 'status pages': statusUrl }
  const lines = Object.entries({ ...places, console: consoleUrl }).flatMap(([name, at]) =>
    at === null ? [] : [`${name} on ${at}\n`],
  )
  const owners = consoleUrl === null ? '' : await ownersMissing(program.store, { dataDir, consoleUrl })
  const monitoring = program.monitoring === null ? '' : `${program.monitoring}\n`
  write(`${lines.join('')}${owners}${monitoring}`)
  const signal = await stopped
  enforceStopDeadline(log)
  log.info({ signal }, 'stopping')
  await program.close()
  log.info('stopped')
}

/** Rejects when the schema has pending migrations. */
async function assertMigrated(engine: Engine): Promise<void> {
  const version = await engine.schemaNow()
  if (version !== undefined && version >= engine.schemaVersion) return
  const due = version === undefined ? 'there is no data in' : `schema ${version} is in`
  throw new Error(
    `${due} ${engine.place}, and this release needs schema ${engine.schemaVersion}: run "pharos-server migrate", or leave out --migrate never`,
  )
}

/** A line for each organisation without an owner, with the command that invites one. */
async function ownersMissing(
  store: Store,
  { dataDir, consoleUrl }: { readonly dataDir: string | null; readonly consoleUrl: string },
): Promise<string> {
  // The URL of a database contains its password.
  const place = dataDir === null ? '--database-file FILE' : `--data-dir ${shellQuoted(resolve(dataDir))}`
  const address = `--email ADDRESS --console-url ${consoleUrl}`
  const orgs = await store.orgsWithoutOwner()
  return orgs
    .map(
      ({ id }) =>
        `organisation ${id} has no owner: pharos-server owner invite ${place} --org ${id} ${address}\n`,
    )
    .join('')
}
