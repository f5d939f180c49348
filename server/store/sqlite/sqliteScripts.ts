import type { Database, Statement } from 'better-sqlite3'
import { DEFINITION_JSON } from '../scripts/definitionJson.ts'
import type { Script, Scripts, ScriptValue } from '../scripts/script.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'

/** Replacements for SQLite: its parameters have no types, it compares text by bytes, and names functions otherwise. */
const REPLACEMENTS = [
  [DEFINITION_JSON, '$1'],
  [/::\w+/g, ''],
  [/ COLLATE "C"/g, ''],
  [/\bgreatest\(/g, 'max('],
  [/\bjson_array_elements(?:_text)?\(/g, 'json_each('],
  // Each transaction locks the whole file.
  [/ FOR (?:NO KEY UPDATE|UPDATE OF t SKIP LOCKED)/g, ''],
  [/\bpg_advisory_xact_lock\(hashtextextended\(\$1, 0\)\)/g, '$$1'],
] as const

/** Runs scripts in SQLite: reads at once, and all others in a group commit. */
export function sqliteScripts(
  { reader, writer }: Connections,
  commits: Pick<GroupCommit, 'run' | 'assertGrowth'>,
): Scripts {
  const onReader = executorOn(reader)
  const onWriter = executorOn(writer)
  const inTransaction: Scripts['inTransaction'] = (script) => commits.run(() => onWriter(script()))
  const known = writer.prepare('SELECT 1 FROM orgs WHERE id = ?')
  return {
    read: async (script) => onReader(script()),
    write: inTransaction,
    inTransaction,
    withOrgLocked: (orgId, refusal, script) =>
      commits.run(() => {
        if (known.get(orgId) === undefined) throw refusal
        return onWriter(script())
      }),
    assertGrowth: () => commits.assertGrowth(),
  }
}

/** Runs scripts on `database`, in the caller's transaction. */
export function executorOn(database: Database): <Result>(script: Script<Result>) => Result {
  const prepared = new Map<string, Statement<unknown[], object>>()
  const prepare = (text: string): Statement<unknown[], object> => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const replaced = REPLACEMENTS.reduce((sql, [from, to]) => sql.replace(from, to), text)
    const statement = database.prepare<unknown[], object>(replaced)
    prepared.set(text, statement)
    return statement
  }
  return (script) => {
    let step = script.next([])
    while (step.done !== true) {
      const statement = prepare(step.value.text)
      const values = parametersOf(step.value.values)
      if (statement.reader) step = script.next(statement.all(values))
      else {
        statement.run(values)
        step = script.next([])
      }
    }
    return step.value
  }
}

/** `$1` is a named parameter in SQLite, which has neither booleans nor lists. */
function parametersOf(values: readonly ScriptValue[]): Readonly<Record<string, ScriptValue>> {
  return Object.fromEntries(
    values.map((value, index) => {
      if (typeof value === 'boolean') return [index + 1, Number(value)]
      return [index + 1, Array.isArray(value) ? JSON.stringify(value) : value]
    }),
  )
}
