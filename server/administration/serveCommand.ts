import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { stderrLog } from '../../api/runtime/stderrLog.ts'
import { proxyOption } from '../../monitoring/program/proxyOption.ts'
import { readRanges } from '../../monitoring/program/readRanges.ts'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { connectionsFor, descriptorLimit } from '../process/connectionsMax.ts'
import { startProgram } from '../process/program.ts'
import { createLog } from '../process/requestLog.ts'
import { stopSignal } from '../process/stopSignal.ts'
import { monotonicMs, systemEnvironment } from '../process/systemEnvironment.ts'
import type { KeySource } from '../secrets/keyring.ts'
import type { Engine } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import { type AgentListeningOptions, agentListeningOf } from './options/agentListening.ts'
import { addBackupFlags, type BackupOptions, backupScheduleOf } from './options/backupOptions.ts'
import { LOG_LEVELS, MASTER_KEY_VARIABLE, VARIABLES } from './options/configuration.ts'
import {
  type ConsoleListeningOptions,
  consoleListeningOf,
  consoleUrlOption,
  trustProxiesOption,
} from './options/consoleListening.ts'
import { addDatabaseFlags, type DatabasePlace, engineOf } from './options/databaseOption.ts'
import { keySourceOf, masterKeyOption } from './options/masterKeyOption.ts'
import { readGiven } from './options/readGiven.ts'
import { type StatusListeningOptions, statusListeningOf, statusUrlOption } from './options/statusListening.ts'
import { addTlsFlags, sharedTlsOf, type TlsOptions } from './options/tlsOptions.ts'
import type { Write } from './text/output.ts'
import { shellQuoted } from './text/shellQuoted.ts'

interface ServeOptions
  extends DatabasePlace,
    BackupOptions,
    TlsOptions,
    AgentListeningOptions,
    StatusListeningOptions,
    ConsoleListeningOptions {
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
  write: Write,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const command = program.command('serve').description('serve the API until SIGTERM, SIGINT or SIGHUP')
  addTlsFlags(addBackupFlags(addDatabaseFlags(command)))
    .addOption(
      portOption('--port <port>', 'port of the API, 0 for any free one', VARIABLES.port).default(7171),
    )
    .addOption(hostOption('--host <host>', 'address of the API', VARIABLES.host))
    .addOption(
      portOption(
        '--admin-port <port>',
        'port of /healthz, /readyz, /metrics and /docs (default: none)',
        VARIABLES.adminPort,
      ),
    )
    .addOption(
      hostOption(
        '--admin-host <host>',
        'address of the admin port, independent of --host',
        VARIABLES.adminHost,
      ),
    )
    .addOption(
      portOption(
        '--agent-port <port>',
        'port for agents on other machines (default: none)',
        VARIABLES.agentPort,
      ),
    )
    .addOption(hostOption('--agent-host <host>', 'address of the agent port', VARIABLES.agentHost))
    .addOption(
      new Option(
        '--agent-tls-cert <file>',
        'certificate chain of the agent port (PEM) (default: that of --tls-cert)',
      ).env(VARIABLES.agentTlsCert),
    )
    .addOption(
      new Option(
        '--agent-tls-key <file>',
        'private key of that certificate (PEM) (default: that of --tls-key)',
      ).env(VARIABLES.agentTlsKey),
    )
    .addOption(
      new Option(
        '--agent-advertise-url <url>',
        'address of the agent port for other servers of the same database (default: its own address)',
      )
        .env(VARIABLES.agentAdvertiseUrl)
        .argParser(readAdvertisedUrl),
    )
    .addOption(
      portOption(
        '--status-port <port>',
        'port of the public status pages (default: none)',
        VARIABLES.statusPort,
      ),
    )
    .addOption(hostOption('--status-host <host>', 'address of the status port', VARIABLES.statusHost))
    .addOption(statusUrlOption())
    .addOption(
      portOption('--console-port <port>', 'port of the console (default: none)', VARIABLES.consolePort),
    )
    .addOption(hostOption('--console-host <host>', 'address of the console port', VARIABLES.consoleHost))
    .addOption(consoleUrlOption(' (default: http://localhost with its port)'))
    .addOption(trustProxiesOption())
    .addOption(masterKeyOption())
    .addOption(
      new Option(
        '--connections-max <count>',
        'maximum number of connections, shared by API, status pages and console (default: three quarters of the file descriptors, at most 10000)',
      )
        .env(VARIABLES.connectionsMax)
        .argParser(wholeNumber(2, 999_999)),
    )
    .addOption(
      rangesOption(
        '--allow-ranges <ranges>',
        'private address ranges that checks may reach, such as 10.0.0.0/8',
        VARIABLES.allowRanges,
      ),
    )
    .addOption(
      rangesOption(
        '--allow-webhook-ranges <ranges>',
        'private address ranges that notifications may reach, also without TLS',
        VARIABLES.allowWebhookRanges,
      ),
    )
    .addOption(
      proxyOption(
        command,
        '--check-proxy',
        'URL of a proxy for all checks from this machine',
        VARIABLES.checkProxy,
      ),
    )
    .addOption(
      proxyOption(command, '--webhook-proxy', 'URL of a proxy for notifications', VARIABLES.webhookProxy),
    )
    .addOption(
      new Option(
        '--monitor <on|off>',
        'whether to check services; off serves API, console and status pages only',
      )
        .env(VARIABLES.monitor)
        .choices(['on', 'off'])
        .default('on'),
    )
    .addOption(
      new Option(
        '--migrate <yes|never>',
        'whether to bring the schema of the database up to date at the start',
      )
        .env(VARIABLES.migrate)
        .choices(['yes', 'never'])
        .default('yes'),
    )
    .addOption(
      new Option('--log-level <level>', 'minimum log level; logs go to stderr')
        .env(VARIABLES.logLevel)
        .choices([...LOG_LEVELS])
        .default('info'),
    )
    .addHelpText(
      'after',
      `\nThe master key may also be given as ${MASTER_KEY_VARIABLE}, 64 hexadecimal digits.`,
    )
    .action(async (options: ServeOptions) => {
      await serve(options, keySourceOf(options, environment), write)
    })
}

function hostOption(flags: string, description: string, variable: string): Option {
  // An empty host would listen on all addresses.
  return new Option(flags, description).env(variable).argParser(readGiven).default('127.0.0.1')
}

function portOption(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable).argParser(wholeNumber(0, 65_535))
}

function rangesOption(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable).argParser(readRanges).default([], 'none')
}

function readAdvertisedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/.test(text)) return text
  throw new InvalidArgumentError('must be a URL such as http://10.0.0.5:7175, without a path')
}

async function serve(options: ServeOptions, source: KeySource, write: Write): Promise<void> {
  const log = createLog(stderrLog(), options.logLevel)
  const { dataDir = null, host, port, adminHost, adminPort = null, allowRanges: allowedRanges } = options
  const tls = sharedTlsOf(options)
  const backups = backupScheduleOf(options)
  const engine = engineOf(options, options.backupTo)
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
    agents: agentListeningOf(options, tls),
    status: statusListeningOf(options),
    console: consoleListeningOf(options, tls !== undefined),
    consoleUrl: options.consoleUrl,
    connectionsMax: options.connectionsMax ?? connectionsFor(descriptorLimit()),
    allowedRanges,
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
  const admin = program.adminUrl === null ? '' : `admin on ${program.adminUrl}\n`
  const monitoring = program.monitoring === null ? '' : `${program.monitoring}\n`
  const agents = program.agentUrl === null ? '' : `agents on ${program.agentUrl}\n`
  const pages = program.statusUrl === null ? '' : `status pages on ${program.statusUrl}\n`
  const people =
    consoleUrl === null
      ? ''
      : `console on ${consoleUrl}\n${await ownersMissing(program.store, { dataDir, consoleUrl })}`
  write(`listening on ${program.url}\n${admin}${agents}${pages}${people}${monitoring}`)
  log.info({ signal: await stopped }, 'stopping')
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
