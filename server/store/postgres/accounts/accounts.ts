import type { AccountStore } from '../../accountStore.ts'
import type { StoreParts } from '../writes/storeParts.ts'
import { postgresInvitations } from './invitations.ts'
import { postgresMembers } from './members.ts'
import { postgresPeople } from './people.ts'
import { postgresSessions } from './sessions.ts'

/** Accounts in PostgreSQL. Not cached: another process may change them at any time. */
export function postgresAccounts(parts: StoreParts): AccountStore {
  return {
    ...postgresPeople(parts.pools),
    ...postgresSessions(parts.pools),
    ...postgresMembers(parts),
    ...postgresInvitations(parts),
  }
}
