import type { AccountStore } from '../../accountStore.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'
import { sqliteInvitations } from './invitations.ts'
import { sqliteMembers } from './members.ts'
import { sqlitePeople } from './people.ts'
import { sqliteSessions } from './sessions.ts'

/** Accounts in SQLite. */
export function sqliteAccounts(connections: Connections, writes: AuditedWrites): AccountStore {
  return {
    ...sqlitePeople(connections, writes),
    ...sqliteSessions(connections, writes),
    ...sqliteMembers(connections, writes),
    ...sqliteInvitations(connections, writes),
  }
}
