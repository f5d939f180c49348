import type { Logger } from 'pino'
import type { Bus } from '../bus/bus.ts'
import type { ConsoleListening } from '../console/startConsole.ts'
import type { Environment } from '../domain/environment.ts'
import type { SpendRequest } from '../http/rateLimit.ts'
import type { BackupSchedule } from './backups.ts'
import type { TlsFiles } from './certificateFiles.ts'
import type { AnswerBounds } from '../http/transport/answerBudget.ts'
import type { Timeouts } from '../http/transport/timeouts.ts'
import type { KeySource } from '../secrets/keyring.ts'
import type { Engine } from '../store/engine.ts'

/** The listener of agents. */
export interface AgentListening {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Absent where a proxy in front has a certificate, or on loopback. */
  readonly tls?: TlsFiles
  /** Where other servers on the database reach it; its own URL when absent. */
  readonly advertisedUrl?: string
}

/** The listener of status pages. */
export interface StatusListening {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Origin under which the public reaches it; absent when pages are only reached by their slugs. */
  readonly url?: string
}

/** Settings of a server. */
export interface ProgramSettings {
  readonly engine: Engine
  /** Folder of the data, which must not contain a copy of the master key; `null` for a database elsewhere. */
  readonly dataDir: string | null
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly adminHost: string
  /** Most connections of the API at a time; with status pages or the console, they are shared. */
  readonly connectionsMax: number
  /** `null` for no admin listener. */
  readonly adminPort: number | null
  /** Where agents on other machines connect; `null` for no such listener. */
  readonly agents: AgentListening | null
  /** Where the public reads status pages; `null` for no such listener. */
  readonly status: StatusListening | null
  /** Where people use the console; `null` for no such listener. */
  readonly console: ConsoleListening | null
  readonly keySource: KeySource
  /** Address ranges that may be checked although they are private. */
  readonly allowedRanges: readonly string[]
  /** Address ranges that webhooks may reach although they are private. */
  readonly webhookRanges: readonly string[]
  /** Certificate of all other listeners; absent where a proxy in front has one. */
  readonly tls?: TlsFiles | undefined
  /** Whether the admin listener uses it too. */
  readonly hasAdminTls?: boolean
  /** When the database is copied; absent or `null` for never. */
  readonly backups?: BackupSchedule | null
  readonly environment: Environment
  /** Milliseconds of a clock that only runs forward. */
  readonly monotonicMs: () => number
  /** Limits the requests of a key in this process; `null` for the limit that processes of one database share. */
  readonly spendRequest: SpendRequest | null
  readonly log: Logger
  /** Whether services are checked; the API answers all the same. */
  readonly isMonitoring: boolean
  /** The bus to publish commands on; that of the monitoring when absent. */
  readonly bus?: Bus
  /** Timeouts for clients; TIMEOUTS for absent members. */
  readonly timeouts?: Partial<Timeouts>
  /** Memory bounds of answers under way; the defaults for absent members. */
  readonly answerBounds?: Partial<AnswerBounds>
}
