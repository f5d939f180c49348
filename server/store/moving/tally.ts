import { createHash } from 'node:crypto'
import type { PortableRow, RowBatches, TableColumns } from '../portable.ts'
import { isChunkTable } from './portableTables.ts'

/** A moved table: source and target have the same rows. */
export interface MovedTable {
  readonly table: string
  /** Rows; of packed results their number. */
  readonly rows: number
  /** SHA-256 of its rows in the order of their key, hexadecimal. */
  readonly sha256: string
}

/** Decodes packed results and encodes them again; returns their number. Throws when they are damaged. */
export type Repack = (chunk: Buffer) => { readonly chunk: Buffer; readonly results: number }

/** Counts and hashes the rows of a table. */
export class Tally {
  readonly #table: string
  readonly #repack: Repack
  readonly #onBatch: (passed: number) => void
  readonly #hash = createHash('sha256')
  #rows = 0
  #passed = 0

  /** Calls `onBatch` with the number of rows so far. */
  constructor(table: string, repack: Repack, onBatch: (passed: number) => void = () => {}) {
    this.#table = table
    this.#repack = repack
    this.#onBatch = onBatch
  }

  get outcome(): MovedTable {
    return { table: this.#table, rows: this.#rows, sha256: this.#hash.copy().digest('hex') }
  }

  /** Passes on the `rows` of `table`, with packed results encoded again. */
  async *observe({ name }: TableColumns, rows: RowBatches): RowBatches {
    const isChunks = isChunkTable(name)
    if (isChunks) this.#hash.update(name)
    for await (const batch of rows) {
      const passed = isChunks ? batch.map((row) => this.#chunk(name, row)) : batch
      if (!isChunks) this.#rows += batch.length
      for (const row of passed) this.#hash.update(`${JSON.stringify(row.map(shown))}\n`)
      this.#passed += batch.length
      this.#onBatch(this.#passed)
      yield passed
    }
  }

  #chunk(name: string, [place, packed]: PortableRow): PortableRow {
    if (place === undefined || !Buffer.isBuffer(packed)) throw new Error(`${name} has no packed results`)
    try {
      const { chunk, results } = this.#repack(packed)
      this.#rows += results
      return [place, chunk]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`${name}, ${place}: ${reason}`, { cause: error })
    }
  }
}

const shown = (value: PortableRow[number]) => (Buffer.isBuffer(value) ? value.toString('base64') : value)
