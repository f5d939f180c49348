import { binaryTag, CORE_SCHEMA, loadAll, Schema, YAMLException } from 'js-yaml'
import { type ManifestPath, Positions } from '../manifest/read/position.ts'

/** A file of another tool. */
export interface SourceFile {
  /** Its name in messages. */
  readonly file: string
  readonly text: string
}

/** A part that could not be converted, or was converted differently, and why; line and column count from 1. */
export interface ImportNote {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A file cannot be parsed. */
export class UnreadableSource extends Error {}

/** Maximum of aliases in a file; other tools use them to share values. */
const ALIASES_MAX = 1_000
/** Maximum of levels: descriptions of APIs nest their schemas deeply. */
const DEPTH_MAX = 200
/** With the only tag that configurations of other tools use. */
const SCHEMA = new Schema([...CORE_SCHEMA.tags, binaryTag])

interface Origin {
  readonly source: SourceFile
  readonly document: number
  readonly positions: () => Positions
  readonly notes: ImportNote[]
}

/** A value of a file with its place; a missing value and one of another type are read as absent. */
export class SourceValue {
  readonly #origin: Origin
  readonly #path: ManifestPath
  readonly #value: unknown

  constructor(origin: Origin, path: ManifestPath, value: unknown) {
    this.#origin = origin
    this.#path = path
    this.#value = value
  }

  /** The value of a key, or else of a merged mapping (`<<`). */
  get(key: string): SourceValue {
    const own = fieldOf(this.#value, key)
    return new SourceValue(this.#origin, [...this.#path, key], own ?? mergedOf(this.#value, key))
  }

  /** The value of the first of `keys` that is there; else that of the last. */
  first(...keys: readonly [string, ...string[]]): SourceValue {
    const found = keys.find((key) => this.get(key).isThere)
    return this.get(found ?? keys.at(-1) ?? keys[0])
  }

  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null
  }

  items(): readonly SourceValue[] {
    if (!Array.isArray(this.#value)) return []
    return this.#value.map((item, index) => new SourceValue(this.#origin, [...this.#path, index], item))
  }

  /** The keys of a mapping with their values. */
  entries(): readonly (readonly [string, SourceValue])[] {
    if (typeof this.#value !== 'object' || this.#value === null || Array.isArray(this.#value)) return []
    return Object.keys(this.#value).map((key) => [key, this.get(key)] as const)
  }

  text(): string | undefined {
    if (typeof this.#value === 'number') return String(this.#value)
    return typeof this.#value === 'string' ? this.#value : undefined
  }

  /** The texts among the items. */
  texts(): readonly string[] {
    return this.items().flatMap((item) => item.text() ?? [])
  }

  /** A text; a number or a flag as the file spells it, such as `1.0`. */
  written(): string | undefined {
    if (typeof this.#value !== 'number' && typeof this.#value !== 'boolean') return this.text()
    const { document, positions } = this.#origin
    return positions().written(document, this.#path) ?? String(this.#value)
  }

  /** A text as it is, anything else as JSON. */
  json(): string | undefined {
    return this.isThere ? (this.text() ?? JSON.stringify(this.#value)) : undefined
  }

  number(): number | undefined {
    const value =
      typeof this.#value === 'string' && this.#value.trim() !== '' ? Number(this.#value) : this.#value
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }

  /** Accepts 0 and 1 as well, as in databases. */
  flag(): boolean | undefined {
    if (this.#value === 0 || this.#value === 1) return this.#value === 1
    return typeof this.#value === 'boolean' ? this.#value : undefined
  }

  /** Notes `message` at the place of this value. Returns `undefined`, for a caller that then has no value. */
  note(message: string): undefined {
    const { source, document, positions, notes } = this.#origin
    const { line, column } = positions().locate(document, this.#path, 'value')
    notes.push({ file: source.file, line, column, message })
  }
}

/** The documents of a YAML or JSON file. Throws UnreadableSource, with the place, when it is neither. */
export function readSource(source: SourceFile, notes: ImportNote[]): readonly SourceValue[] {
  let positions: Positions | undefined
  try {
    const values = loadAll(source.text, {
      filename: source.file,
      maxAliases: ALIASES_MAX,
      maxDepth: DEPTH_MAX,
      json: true,
      schema: SCHEMA,
    })
    return values.map(
      (value, document) =>
        new SourceValue(
          { source, document, notes, positions: () => (positions ??= new Positions(source.text, DEPTH_MAX)) },
          [],
          value,
        ),
    )
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const place = error.mark === undefined ? '' : `:${error.mark.line + 1}:${error.mark.column + 1}`
    throw new UnreadableSource(`${source.file}${place}: ${error.reason}`)
  }
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return Reflect.get(value, key)
}

function mergedOf(value: unknown, key: string): unknown {
  const merged = fieldOf(value, '<<')
  const sources = Array.isArray(merged) ? merged : [merged]
  for (const source of sources) {
    const found = fieldOf(source, key) ?? (source === undefined ? undefined : mergedOf(source, key))
    if (found !== undefined) return found
  }
  return undefined
}
