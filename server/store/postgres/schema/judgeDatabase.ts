import { type Finding, findingOf } from '../../finding.ts'

/** The oldest supported release of PostgreSQL. */
const VERSION_MIN = 140_000
/** Maximum difference between the clock of the database and that of this machine (milliseconds). */
const CLOCK_MS_MAX = 2_000

/** Facts about a database that decide whether a server can use it. */
export interface DatabaseFacts {
  /** As `server_version_num`. */
  readonly version: number
  readonly encoding: string
  readonly isStandby: boolean
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly synchronousStandbyNames: string
  /** Connected standbys, and those known to be synchronous. */
  readonly standbys: number
  readonly synchronousStandbys: number
  readonly archiveMode: string
  /** How far the clock of the database is ahead of this machine's (milliseconds). */
  readonly clockAheadMs: number
  /** A pooler in front of the database: `old` when it mixes up the prepared statements of its clients. */
  readonly pooler: 'none' | 'old' | 'usable'
}

/** Findings about a database: durability, replication, archive, clock and pooler. Pure. */
export function judgeDatabase(facts: DatabaseFacts): readonly Finding[] {
  return [
    ...judgeSettings(facts),
    judgeReplication(facts),
    judgeArchive(facts),
    judgeClock(facts),
    judgePooler(facts),
  ]
}

function judgeSettings(facts: DatabaseFacts): readonly Finding[] {
  const { version, encoding, isStandby, fsync, fullPageWrites, synchronousCommit } = facts
  const refused = (check: string, isGood: boolean, ok: string, problem: string) =>
    findingOf(check, { health: 'refused', problem: isGood ? undefined : problem, ok })
  return [
    refused(
      'version',
      version >= VERSION_MIN,
      `PostgreSQL ${Math.floor(version / 10_000)}`,
      'it is older than PostgreSQL 14: upgrade it',
    ),
    refused(
      'encoding',
      encoding === 'UTF8',
      'UTF8',
      `its encoding is ${encoding}: create one with ENCODING 'UTF8'`,
    ),
    refused('primary', !isStandby, 'it is writable', 'it is a read-only standby: use the URL of the primary'),
    refused(
      'fsync',
      fsync === 'on',
      'on: a commit is on disk',
      'fsync is off, so a crash would lose acknowledged changes: set it to on',
    ),
    refused(
      'full_page_writes',
      fullPageWrites === 'on',
      'on',
      'full_page_writes is off, so a crash could corrupt the database: set it to on',
    ),
    refused(
      'synchronous_commit',
      synchronousCommit !== 'off' && synchronousCommit !== 'local',
      synchronousCommit,
      `synchronous_commit is ${synchronousCommit}, so a crash or failover would lose acknowledged changes: set it to on`,
    ),
  ]
}

function judgeReplication({
  standbys,
  synchronousStandbys,
  synchronousStandbyNames,
}: DatabaseFacts): Finding {
  const check = 'replication'
  if (synchronousStandbyNames === '') {
    if (standbys > 0) {
      const text = `its ${standbys} standbys are asynchronous, so a failover would lose the last acknowledged changes: set synchronous_standby_names`
      return { check, health: 'broken', text }
    }
    const text = 'no standby is connected: if its machine is lost, restore a backup'
    return { check, health: 'ok', text }
  }
  if (synchronousStandbys > 0) {
    return { check, health: 'ok', text: `synchronous with ${synchronousStandbys} of ${standbys} standbys` }
  }
  const text = `synchronous_standby_names is ${synchronousStandbyNames}, but no such standby is visible: connect it, and grant pg_monitor to this user`
  return { check, health: 'warning', text }
}

function judgeArchive({ archiveMode }: DatabaseFacts): Finding {
  const isArchived = archiveMode !== 'off'
  const text = isArchived
    ? 'its WAL is archived: point-in-time recovery is possible'
    : 'it does not archive its WAL: a restored dump lacks later changes. Backups made by a provider are not visible from here'
  return { check: 'archive', health: 'ok', text }
}

function judgeClock({ clockAheadMs }: DatabaseFacts): Finding {
  const differs = Math.abs(clockAheadMs)
  const direction = clockAheadMs > 0 ? 'ahead of' : 'behind'
  return findingOf('clock', {
    health: 'warning',
    problem:
      differs > CLOCK_MS_MAX
        ? `the clock of the database is ${(differs / 1_000).toFixed(1)} s ${direction} this machine's: synchronise both (NTP)`
        : undefined,
    ok: `within ${CLOCK_MS_MAX / 1_000} s of this machine's`,
  })
}

function judgePooler({ pooler }: DatabaseFacts): Finding {
  return findingOf('pooler', {
    health: 'refused',
    problem:
      pooler === 'old'
        ? 'the pooler in front of it mixes up prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements, or none'
        : undefined,
    ok: pooler === 'none' ? 'none' : 'it supports prepared statements',
  })
}
