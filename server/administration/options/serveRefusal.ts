import { notOnPostgres } from '../../store/postgres/notYet.ts'
import type { ApiError } from '../../../api/contract/apiError.ts'
import { type DatabasePlace, databaseUrlOf } from './databaseOption.ts'

/** The settings of a server that need a data folder. */
interface Wanted extends DatabasePlace {
  readonly monitor: 'on' | 'off'
  readonly agentPort?: number
}

/** Why a server with these settings cannot use PostgreSQL yet; `undefined` when it can, or uses a data folder. Pure. */
export function serveRefusal(wanted: Wanted): ApiError | undefined {
  if (databaseUrlOf(wanted) === undefined) return undefined
  if (wanted.agentPort !== undefined) return notOnPostgres('--agent-port')
  if (wanted.monitor === 'on') return notOnPostgres('monitoring (turn it off with --monitor off)')
  return undefined
}
