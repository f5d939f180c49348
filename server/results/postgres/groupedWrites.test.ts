import { expect, test } from 'vitest'
import { upsertSql } from '../database/resultsDatabase.ts'
import { groupedWrites, upsertOf, type Write } from './groupedWrites.ts'

const sql = upsertSql('a', ['id'], ['x'])
const put = (id: number, x: number): Write => ({
  statement: { text: sql, values: [id, x] },
  upsert: upsertOf(sql),
})
const other: Write = { statement: { text: 'DELETE FROM a', values: [] }, upsert: undefined }
const shown = (writes: readonly Write[]) => groupedWrites(writes).map(({ values }) => values)

test('rows of one table are written together, in few batch sizes', () => {
  const writes = Array.from({ length: 162 }, (_, id) => put(id, 0))

  const statements = groupedWrites(writes)

  expect(statements.map(({ values }) => (values ?? []).length / 2)).toEqual([100, 50, 10, 1, 1])
  expect(statements[2]?.text).toMatch(
    /^INSERT INTO a \(id, x\) VALUES \(\$1, \$2\), .* \(\$19, \$20\) ON CONFLICT \(id\)/,
  )
})

test('of two rows with one key the last is written, as sequential writes would leave it', () => {
  expect(shown([put(1, 1), put(2, 1), put(1, 2)])).toEqual([
    [1, 2],
    [2, 1],
  ])
})

test('an unrelated write keeps its position between the others', () => {
  expect(shown([put(1, 1), other, put(1, 2)])).toEqual([[1, 1], [], [1, 2]])
})

test('a statement that is not an upsert is not grouped', () => {
  expect(upsertOf('INSERT INTO a (id) VALUES (?) ON CONFLICT (id) DO NOTHING')).toBeUndefined()
  expect(upsertOf('UPDATE a SET x = ?')).toBeUndefined()
})
