import { createHash, type Hash } from 'node:crypto'
import type { Engine } from '../engine.ts'
import type { Portable, PortableRow, RowBatches, TableColumns } from '../portable.ts'
import { type Part, PORTABLE_TABLES, SEEDED_TABLES, UNMOVED_TABLES } from './portableTables.ts'

/** A moved table: source and target have the same rows. */
export interface MovedTable {
  readonly table: string
  readonly rows: number
  /** SHA-256 of its rows in the order of their key, hexadecimal. */
  readonly sha256: string
}

/** Result of a move. */
export interface Move {
  readonly moved: readonly MovedTable[]
  /** Tables whose rows were left behind on request. */
  readonly left: readonly { readonly table: string; readonly rows: number }[]
}

/** Settings of a move. */
export interface MoveOptions {
  readonly from: Engine
  readonly to: Engine
  /** Parts of the data to leave behind where the target has no tables for them. */
  readonly without: ReadonlySet<Part>
  /** Called for every batch of rows. */
  readonly onProgress?: (progress: {
    readonly table: string
    readonly done: number
    readonly of: number
  }) => void
}

/** Tables to move and to leave behind. */
interface MovePlan {
  readonly tables: readonly (TableColumns & { readonly rows: number })[]
  readonly left: Move['left']
}

/**
 * Moves the data of one store into another kind of database, and compares every row. Rejects, and leaves the target
 * empty, when the source is in use, the target has data, or the target lacks a table. Afterwards the source cannot be
 * opened. Can be repeated after a crash at any instant.
 */
export async function moveStore({ from, to, without, onProgress }: MoveOptions): Promise<Move> {
  const undo: (() => Promise<void>)[] = []
  try {
    const source = await opened(from, 'source', undo)
    const target = await opened(to, 'target', undo)
    await assertEmpty(to, target)
    const plan = await planMove(source, target, without)
    const moved: MovedTable[] = []
    for (const name of SEEDED_TABLES) await target.clear(name)
    for (const table of plan.tables) {
      const { hash, rows } = hashed(source.exportRows(table))
      let done = 0
      await target.importRows(
        table,
        observed(rows, (count) => {
          done += count
          onProgress?.({ table: table.name, done, of: table.rows })
        }),
      )
      moved.push({ table: table.name, rows: done, sha256: hash.digest('hex') })
    }
    await target.complete()
    await compare(target, plan.tables, moved)
    // Before the commit: at no time can both be used.
    await source.markMoved(to.place)
    await target.commit()
    return { moved, left: plan.left }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/** Locks and opens `engine` for this move; adds to `undo` how to close it. */
async function opened(
  engine: Engine,
  role: 'source' | 'target',
  undo: (() => Promise<void>)[],
): Promise<Portable> {
  if (role === 'source' && !(await engine.exists()))
    throw new Error(`there is no database in ${engine.place}`)
  for (const name of ['serve', 'rotation'] as const) undo.push(await engine.lock(name))
  const portable = await engine.openPortable(role)
  undo.push(() => portable.close())
  return portable
}

async function assertEmpty(to: Engine, target: Portable): Promise<void> {
  for (const table of (await target.columns()).keys()) {
    if (UNMOVED_TABLES.has(table) || SEEDED_TABLES.includes(table)) continue
    if ((await target.count(table)) === 0) continue
    throw new Error(`${to.place} already has data (${table}): move into an empty one`)
  }
}

/** The tables to move, and those to leave behind. Throws when a table cannot move and `without` does not name its part. */
async function planMove(source: Portable, target: Portable, without: ReadonlySet<Part>): Promise<MovePlan> {
  const [have, want] = [await source.columns(), await target.columns()]
  const tables: (TableColumns & { readonly rows: number })[] = []
  for (const { name, key } of PORTABLE_TABLES) {
    const columns = have.get(name)
    if (columns === undefined || columns.join() !== want.get(name)?.join()) continue
    tables.push({ name, key, columns, rows: await source.count(name) })
  }
  const left: { table: string; rows: number; part: Part | null }[] = []
  for (const table of have.keys()) {
    if (UNMOVED_TABLES.has(table) || tables.some(({ name }) => name === table)) continue
    const rows = await source.count(table)
    const part = PORTABLE_TABLES.find(({ name }) => name === table)?.part
    if (rows > 0) left.push({ table, rows, part: part === undefined ? 'other' : part })
  }
  const lost = left.filter(({ part }) => part === null || !without.has(part))
  if (lost.length > 0) throw new Error(lossText(lost))
  return { tables, left: left.map(({ table, rows }) => ({ table, rows })) }
}

function lossText(lost: readonly { table: string; rows: number; part: Part | null }[]): string {
  const parts = [...new Set(lost.map(({ part }) => part))]
  const what = lost.map(({ table, rows }) => `${table} (${rows} rows)`).join(', ')
  const flags = parts.map((part) => `--without ${part}`).join(' ')
  const remedy = parts.includes(null) ? 'move with another release' : `leave them behind with ${flags}`
  return `the target has no tables for ${what}: ${remedy}`
}

/** `rows`, and a hash of the rows read so far. */
function hashed(rows: RowBatches): { readonly hash: Hash; readonly rows: RowBatches } {
  const hash = createHash('sha256')
  const observe = (batch: readonly PortableRow[]) => {
    for (const row of batch) hash.update(`${JSON.stringify(row)}\n`)
  }
  return { hash, rows: tapped(rows, observe) }
}

const observed = (rows: RowBatches, observe: (count: number) => void): RowBatches =>
  tapped(rows, (batch) => observe(batch.length))

async function* tapped(rows: RowBatches, observe: (batch: readonly PortableRow[]) => void): RowBatches {
  for await (const batch of rows) {
    observe(batch)
    yield batch
  }
}

/** Reads every table of the target again. Throws when one differs from the source. */
async function compare(
  target: Portable,
  tables: readonly TableColumns[],
  moved: readonly MovedTable[],
): Promise<void> {
  for (const [index, table] of tables.entries()) {
    const { hash, rows } = hashed(target.exportRows(table))
    let count = 0
    for await (const batch of rows) count += batch.length
    const expected = moved[index]
    if (count === expected?.rows && hash.digest('hex') === expected.sha256) continue
    throw new Error(
      `${table.name} differs after the move (${count} rows of ${expected?.rows}): nothing was moved`,
    )
  }
}
