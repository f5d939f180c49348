import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumber } from '../../../monitoring/program/wholeNumber.ts'
import type { BackupSchedule } from '../../process/backups.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { newestBackupAtMs } from '../../store/sqlite/files/backupFolder.ts'
import { sqliteEngine } from '../../store/sqlite/sqliteEngine.ts'
import { setting } from './configuration.ts'
import { readGiven } from './readGiven.ts'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Maximum number of backups kept. */
const KEEP_MAX = 1_000

/** Options of `serve` for backups. */
export interface BackupOptions {
  readonly dataDir?: string | undefined
  readonly backupTo?: string
  /** Such as 1d. */
  readonly backupEvery: string
  readonly backupKeep: number
}

/** Adds the flags of BackupOptions to `command`. */
export function addBackupFlags(command: Command): Command {
  return command
    .addOption(
      setting('--backup-to <dir>', 'folder for scheduled backups of the database (default: none)').argParser(
        readGiven,
      ),
    )
    .addOption(
      setting('--backup-every <duration>', 'time between two backups: 30m, 12h, 1d')
        .argParser(readInterval)
        .default('1d'),
    )
    .addOption(
      setting('--backup-keep <count>', 'number of backups to keep')
        .argParser(wholeNumber(1, KEEP_MAX))
        .default(7),
    )
}

/** The schedule of backups; `null` for none. Throws for PostgreSQL, which the server does not back up. */
export function backupScheduleOf({
  dataDir,
  backupTo,
  backupEvery,
  backupKeep,
}: BackupOptions): BackupSchedule | null {
  if (backupTo === undefined) return null
  if (dataDir === undefined) {
    throw new Error(
      '--backup-to is for data folders: back up PostgreSQL with pg_dump, or with pgBackRest or another archive of its log',
    )
  }
  const folder = resolve(backupTo)
  const engine = sqliteEngine(dataDir, systemEnvironment.nowMs)
  return {
    everyMs: intervalMs(backupEvery) ?? UNIT_MS.d,
    backup: (signal) => engine.backupInto(folder, backupKeep, signal),
    newestAtMs: (nowMs) => newestBackupAtMs(folder, nowMs),
  }
}

function readInterval(text: string): string {
  if (intervalMs(text) !== undefined) return text
  throw new InvalidArgumentError('must be a duration such as 30m, 12h or 1d, at most 365d')
}

/** `text` in milliseconds; `undefined` when it is not an interval. Pure. */
function intervalMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})([smhd])$/.exec(text) ?? []
  // True because the pattern allows no other unit.
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
  return ms > 0 && ms <= 365 * UNIT_MS.d ? ms : undefined
}
