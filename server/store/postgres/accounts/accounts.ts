import type { AccountStore } from '../../accountStore.ts'
import type { TurnParts } from '../writes/orgQueues.ts'
import { postgresInvitations } from './invitations.ts'
import { postgresMembers } from './members.ts'
import { postgresPeople } from './people.ts'
import { postgresSessions } from './sessions.ts'

/** Accounts in PostgreSQL. Nothing of them is cached: another process may have ended what this one knows. */
export function postgresAccounts(parts: TurnParts): AccountStore {
  return {
    ...postgresPeople(parts.pools),
    ...postgresSessions(parts.pools),
    ...postgresMembers(parts),
    ...postgresInvitations(parts),
  }
}
