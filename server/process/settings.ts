import type { Logger } from 'pino'
import type { Bus } from '../bus/bus.ts'
import type { ConsoleListening } from '../console/startConsole.ts'
import type { Environment } from '../domain/environment.ts'
import type { SpendRequest } from '../http/rateLimit.ts'
import type { ResponseBounds } from '../http/transport/responseBudget.ts'
import type { Timeouts } from '../http/transport/timeouts.ts'
import type { KeySource } from '../secrets/keyring.ts'
import type { Engine } from '../store/engine.ts'
import type { BackupSchedule } from './backups.ts'
import type { TlsFiles } from './certificateFiles.ts'

/** The listener of agents. */
export interface AgentListening {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Absent behind a TLS proxy, or on loopback. */
  readonly tls?: TlsFiles | undefined
  /** URL at which other servers of the database reach it; its own URL when absent. */
  readonly advertisedUrl?: string | undefined
}

/** The listener of status pages. */
export interface StatusListening {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Public origin; absent when pages are only reached by their slugs. */
  readonly url?: string | undefined
}

/** Settings of a server. */
export interface ProgramSettings {
  readonly engine: Engine
  /** Data folder, which must not contain a copy of the master key; `null` for PostgreSQL. */
  readonly dataDir: string | null
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly adminHost: string
  /** Maximum number of concurrent connections, shared by API, status pages and console. */
  readonly connectionsMax: number
  /** `null` for no admin listener. */
  readonly adminPort: number | null
  /** The listener for agents on other machines; `null` for none. */
  readonly agents: AgentListening | null
  /** The listener of status pages; `null` for none. */
  readonly status: StatusListening | null
  /** The listener of the console; `null` for none. */
  readonly console: ConsoleListening | null
  /** Public origin of the console, also of one in another process, for links in notifications; absent without links. */
  readonly consoleUrl?: string | undefined
  readonly keySource: KeySource
  /** Private address ranges that checks may reach. */
  readonly allowedRanges: readonly string[]
  /** Private address ranges that webhooks may reach. */
  readonly webhookRanges: readonly string[]
  /** URL of the proxy for checks from this machine; without a proxy when absent. May contain a password. */
  readonly checkProxy?: string | undefined
  /** The same for webhooks with TLS. */
  readonly webhookProxy?: string | undefined
  /** Certificate of the other listeners; absent behind a TLS proxy. */
  readonly tls?: TlsFiles | undefined
  /** Whether the admin listener uses it too. */
  readonly hasAdminTls?: boolean
  /** Schedule of backups; absent or `null` for none. */
  readonly backups?: BackupSchedule | null
  readonly environment: Environment
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** Rate limit per key in this process; `null` for the limit that all processes of a database share. */
  readonly spendRequest: SpendRequest | null
  readonly log: Logger
  /** Whether services are checked. The API does not depend on it. */
  readonly isMonitoring: boolean
  /** The bus for commands; that of monitoring when absent. */
  readonly bus?: Bus
  /** Timeouts for clients; TIMEOUTS for absent members. */
  readonly timeouts?: Partial<Timeouts>
  /** Memory bounds of responses in progress; the defaults for absent members. */
  readonly responseBounds?: Partial<ResponseBounds>
}
