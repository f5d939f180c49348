import type { AccountStore } from '../accountStore.ts'
import type { Scripts } from '../scripts/script.ts'
import { invitations } from './invitations.ts'
import { members } from './members.ts'
import { people } from './people.ts'
import { sessions } from './sessions.ts'

/** Accounts in either kind of database. */
export function accounts(scripts: Scripts): AccountStore {
  return { ...people(scripts), ...sessions(scripts), ...members(scripts), ...invitations(scripts) }
}
