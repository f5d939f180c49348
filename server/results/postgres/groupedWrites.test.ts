import { expect, test } from 'vitest'
import { upsertSql } from '../database/resultsDatabase.ts'
import { groupedWrites, insertOf, type Write } from './groupedWrites.ts'

const sql = upsertSql('a', ['id'], ['x'])
const put = (id: number, x: number): Write => ({
  statement: { text: sql, values: [id, x] },
  insert: insertOf(sql),
})
const other: Write = { statement: { text: 'DELETE FROM a', values: [] }, insert: undefined }
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

test('rows that are only inserted are written together, all of them and in their order', () => {
  const text = 'INSERT INTO b (x, y) VALUES (?, ?)'
  const add = (x: number): Write => ({ statement: { text, values: [x, 0] }, insert: insertOf(text) })

  const statements = groupedWrites([add(2), put(1, 1), add(1), put(2, 1), add(2)])

  expect(statements.map(({ values }) => values)).toEqual([
    [2, 0],
    [1, 0],
    [2, 0],
    [1, 1],
    [2, 1],
  ])
  expect(groupedWrites(Array.from({ length: 10 }, (_, index) => add(10 - index)))).toEqual([
    {
      text: `INSERT INTO b (x, y) VALUES ${Array.from({ length: 10 }, (_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(', ')}`,
      values: Array.from({ length: 10 }, (_, index) => [10 - index, 0]).flat(),
    },
  ])
})

test('a statement that may insert nothing, or inserts nothing, is not grouped', () => {
  expect(insertOf('INSERT INTO a (id) VALUES (?) ON CONFLICT (id) DO NOTHING')).toBeUndefined()
  expect(insertOf('UPDATE a SET x = ?')).toBeUndefined()
})
