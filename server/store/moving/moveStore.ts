import { assertExists, type Engine, type ResultsPlace } from '../engine.ts'
import type { Portable, TableColumns } from '../portable.ts'
import { isChunkTable, type Part, PORTABLE_TABLES, SEEDED_TABLES, UNMOVED_TABLES } from './portableTables.ts'
import { type MovedTable, type Repack, Tally } from './tally.ts'

/** Name of all tables of packed results together. */
const CHUNKS = 'results.chunks'

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
  readonly results: MovableResults
  /** Called for every batch of rows. */
  readonly onProgress?: (progress: {
    readonly table: string
    readonly done: number
    readonly of: number
  }) => void
}

/** How results move, which are in a file or schema of their own. */
export interface MovableResults {
  /** Creates missing tables of results in `place`; resolves to their file or schema. Rejects when they are damaged. */
  readonly prepare: (place: ResultsPlace) => Promise<string>
  readonly repack: Repack
}

/** One table, or all of packed results, of which there is one for each day and retention. */
interface Section {
  readonly name: string
  readonly tables: readonly TableColumns[]
  /** Rows of its tables. */
  readonly rows: number
}

/** Tables to move and to leave behind. */
interface MovePlan {
  readonly sections: readonly Section[]
  readonly left: Move['left']
}

/**
 * Moves the data of one store into another kind of database, and compares every row. Rejects, and leaves the target as
 * it was, when the source is in use or was moved elsewhere, the target has data, or the target lacks a table.
 * Afterwards the source cannot be opened. Can be repeated after a crash at any instant.
 */
export async function moveStore({ from, to, without, results, onProgress }: MoveOptions): Promise<Move> {
  // A move to the same place was interrupted before its end if that place has no data.
  await from.assertNotMoved(to.place)
  const undo: (() => Promise<void>)[] = []
  const prepare = without.has('results') ? undefined : results.prepare
  let isMoved = false
  try {
    await assertExists(from)
    await locked(from, undo)
    const source = await opened(from, { role: 'source', prepare }, undo)
    await locked(to, undo)
    const removeNewFiles = await to.removeNewFiles()
    undo.push(async () => {
      if (!isMoved) await removeNewFiles()
    })
    const target = await opened(to, { role: 'target', prepare }, undo)
    await assertEmpty({ from, to }, target)
    const { sections, left } = await planMove(source, target, without)
    for (const name of SEEDED_TABLES) await target.clear(name)
    const moved: MovedTable[] = []
    for (const section of sections) {
      const tally = new Tally(section.name, results.repack, (done) =>
        onProgress?.({ table: section.name, done, of: section.rows }),
      )
      for (const table of section.tables) {
        await target.importRows(table, tally.observe(table, source.exportRows(table)))
      }
      moved.push(tally.outcome)
    }
    await target.complete()
    await compare(target, { sections, moved, repack: results.repack })
    // Before the commit: at no time can both be used.
    await source.markMoved(to.place)
    await target.commit()
    isMoved = true
    return { moved, left }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/** Locks `engine` for this move; adds to `undo` how to unlock it. */
async function locked(engine: Engine, undo: (() => Promise<void>)[]): Promise<void> {
  for (const name of ['serve', 'rotation'] as const) undo.push(await engine.lock(name))
}

/** Opens `engine`, which is locked, for this move; adds to `undo` how to close it. */
async function opened(
  engine: Engine,
  { role, prepare }: { role: 'source' | 'target'; prepare: MovableResults['prepare'] | undefined },
  undo: (() => Promise<void>)[],
): Promise<Portable> {
  const results = prepare === undefined ? null : await prepare(engine.results)
  const portable = await engine.openPortable(role, results)
  undo.push(() => portable.close())
  return portable
}

const definitionOf = (table: string) => PORTABLE_TABLES.find(({ name }) => name === table)

async function assertEmpty(
  { from, to }: { readonly from: Engine; readonly to: Engine },
  target: Portable,
): Promise<void> {
  for (const table of (await target.columns()).keys()) {
    if (UNMOVED_TABLES.has(table) || SEEDED_TABLES.includes(table)) continue
    if ((await target.count(table, definitionOf(table)?.where)) === 0) continue
    await from.assertNotMoved()
    throw new Error(`${to.place} already has data (${table}): move into an empty one`)
  }
}

/** The tables to move, and those to leave behind. Throws when a table cannot move and `without` does not name its part. */
async function planMove(source: Portable, target: Portable, without: ReadonlySet<Part>): Promise<MovePlan> {
  const [have, want] = [await source.columns(), await target.columns()]
  const sections: Section[] = []
  for (const { name, key, where } of PORTABLE_TABLES) {
    const columns = have.get(name)
    if (columns === undefined || columns.join() !== want.get(name)?.join()) continue
    sections.push({ name, tables: [{ name, key, columns, where }], rows: await source.count(name, where) })
  }
  sections.push(...(await planChunks(source, target)))
  const planned = new Set(sections.flatMap(({ tables }) => tables.map(({ name }) => name)))
  const left: { table: string; rows: number; part: Part | null }[] = []
  for (const table of have.keys()) {
    if (UNMOVED_TABLES.has(table) || planned.has(table)) continue
    const rows = await source.count(table)
    const part = definitionOf(table)?.part
    if (rows > 0) left.push({ table, rows, part: part === undefined ? 'other' : part })
  }
  const lost = left.filter(({ part }) => part === null || !without.has(part))
  if (lost.length > 0) throw new Error(lossText(lost))
  return { sections, left: left.map(({ table, rows }) => ({ table, rows })) }
}

/** The packed results, for which `target` gets the tables of `source`; nothing when there are none. */
async function planChunks(source: Portable, target: Portable): Promise<readonly Section[]> {
  const names = [...(await source.columns()).keys()].filter(isChunkTable).sort()
  if (names.length === 0) return []
  const tables: TableColumns[] = []
  let rows = 0
  for (const name of names) {
    await target.createChunkTable(name)
    rows += await source.count(name)
    tables.push({ name, columns: ['place', 'results'], key: ['place'] })
  }
  return [{ name: CHUNKS, tables, rows }]
}

function lossText(lost: readonly { table: string; rows: number; part: Part | null }[]): string {
  const parts = [...new Set(lost.map(({ part }) => part))]
  const what = lost.map(({ table, rows }) => `${table} (${rows} rows)`).join(', ')
  const flags = parts.map((part) => `--without ${part}`).join(' ')
  const remedy = parts.includes(null) ? 'move with another release' : `leave them behind with ${flags}`
  return `the target has no tables for ${what}: ${remedy}`
}

/** Reads every table of the target again. Throws when one differs from the source. */
async function compare(
  target: Portable,
  {
    sections,
    moved,
    repack,
  }: Pick<MovePlan, 'sections'> & { readonly moved: readonly MovedTable[]; readonly repack: Repack },
): Promise<void> {
  for (const [index, { name, tables }] of sections.entries()) {
    const tally = new Tally(name, repack)
    for (const table of tables) {
      for await (const _ of tally.observe(table, target.exportRows(table)));
    }
    const [found, expected] = [tally.outcome, moved[index]]
    if (found.rows === expected?.rows && found.sha256 === expected.sha256) continue
    throw new Error(
      `${name} differs after the move (${found.rows} rows of ${expected?.rows}): nothing was moved`,
    )
  }
}
