import { codeOf } from '../../../../api/runtime/errorCode.ts'
import { withDatabase } from './withDatabase.ts'

/**
 * Rejects with `remedy` when a page of the database `file` is damaged, or when it is no database. Otherwise, the damage
 * would surface only when a page is needed. Reads the whole file.
 */
export async function assertUndamaged(file: string, remedy: string): Promise<void> {
  const damaged = (cause?: unknown) => new Error(`${file} is damaged: ${remedy}`, { cause })
  const check = withDatabase(file, {}, (database) => database.pragma('quick_check(1)', { simple: true }))
  const verdict = await check.catch((error: unknown) => {
    throw codeOf(error) === 'SQLITE_NOTADB' ? damaged(error) : error
  })
  if (verdict !== 'ok') throw damaged()
}
