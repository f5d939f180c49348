import { binaryTag, CORE_SCHEMA, loadAll, mergeTag, Schema, YAMLException } from 'js-yaml'
import { type ManifestPath, Positions } from '../manifest/read/position.ts'
import { brokenSyntax } from '../manifest/read/readYaml.ts'
import { ExpectedFailure } from '../run/failure.ts'

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
export class UnreadableSource extends ExpectedFailure {
  override readonly name = 'UnreadableSource'
  readonly code = 'E_USAGE'
}

/** Maximum of aliases in a file; other tools use them to share values. */
const ALIASES_MAX = 1_000
/** Maximum of levels: descriptions of APIs nest their schemas deeply. */
const DEPTH_MAX = 200
/** Maximum of keys in merged mappings (`<<`). */
const MERGED_KEYS_MAX = 1_000_000
/** Maximum of lines whose indentation is corrected, each of which takes another attempt to parse the file. */
const INDENTED_LINES_MAX = 100
/** Wider than any indentation of a file. */
const INDENTATION = ' '.repeat(DEPTH_MAX * 2)
/** With merge keys, also as `!!merge <<`, and with the only other tag that configurations of other tools use. */
const SCHEMA = new Schema([...CORE_SCHEMA.tags, binaryTag, mergeTag])

/** Lines with INDENTATION before their text. */
type Lines = Pick<ReadonlySet<number>, 'has'>

interface Origin {
  readonly source: SourceFile
  readonly document: number
  readonly positions: () => Positions
  readonly indented: Lines
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

  get(key: string): SourceValue {
    return new SourceValue(this.#origin, [...this.#path, key], fieldOf(this.#value, key))
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

  /** Accepts 0 and 1 as well, as in databases, and the words that tools in Go accept. */
  flag(): boolean | undefined {
    if (this.#value === 0 || this.#value === 1) return this.#value === 1
    if (typeof this.#value !== 'string') return typeof this.#value === 'boolean' ? this.#value : undefined
    const word = this.#value.toLowerCase()
    return ['y', 'yes', 'on'].includes(word) ? true : ['n', 'no', 'off'].includes(word) ? false : undefined
  }

  /** Where the file defines this value; a value that several places share has one. */
  get place(): Omit<ImportNote, 'message'> {
    const { source, document, positions, indented } = this.#origin
    const { line, column } = positions().locate(document, this.#path, 'value')
    return { file: source.file, line, column: indented.has(line) ? column - INDENTATION.length : column }
  }

  /** Notes `message` at the place of this value. Returns `undefined`, for a caller that then has no value. */
  note(message: string): undefined {
    this.#origin.notes.push({ ...this.place, message })
  }
}

/** The documents of a YAML or JSON file. Throws UnreadableSource, with the place, when it is neither. */
export function readSource(source: SourceFile, notes: ImportNote[]): readonly SourceValue[] {
  const { values, text, indented } = parsed(source)
  let positions: Positions | undefined
  const origin = { source, notes, indented, positions: () => (positions ??= new Positions(text, DEPTH_MAX)) }
  return values.map((value, document) => new SourceValue({ ...origin, document }, [], value))
}

/**
 * Other tools accept a list, mapping or text in brackets or quotes whose next lines are not indented, such as the last
 * bracket below the key of a list: these lines, `indented`, get INDENTATION in `text` until the file can be parsed.
 */
function parsed({ file, text: given }: SourceFile) {
  const indented = new Map<number, Attempt>()
  let text = given
  for (;;) {
    try {
      return { values: documentsOf(text, file), text, indented }
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      const { line = 0, column = 0, position = 0 } = error.mark ?? {}
      const isNext = error.reason === 'deficient indentation' && !indented.has(line + 1)
      if (!isNext || indented.size === INDENTED_LINES_MAX) {
        // The indentation of its line was not the cause.
        const told = indented.get(line + 1) ?? { text, error }
        throw new UnreadableSource(`${file}:${syntaxText(told)}`)
      }
      indented.set(line + 1, { text, error })
      text = `${text.slice(0, position - column)}${INDENTATION}${text.slice(position - column)}`
    }
  }
}

/** A text with its syntax error. */
interface Attempt {
  readonly text: string
  readonly error: YAMLException
}

/** The place of a syntax error, its message and a hint. */
function syntaxText({ text, error }: Attempt): string {
  const stopped = { line: (error.mark?.line ?? 0) + 1, column: (error.mark?.column ?? 0) + 1 }
  const { line, column, message, hint } = { ...stopped, ...brokenSyntax(text, error) }
  const isIndented = text.split('\n')[line - 1]?.startsWith(INDENTATION) === true
  const own = isIndented ? Math.max(1, column - INDENTATION.length) : column
  return `${line}:${own}: ${message}${hint === undefined ? '' : ` (${hint})`}`
}

function documentsOf(text: string, filename: string): readonly unknown[] {
  return loadAll(text, {
    filename,
    maxAliases: ALIASES_MAX,
    maxDepth: DEPTH_MAX,
    maxTotalMergeKeys: MERGED_KEYS_MAX,
    json: true,
    schema: SCHEMA,
  })
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return Reflect.get(value, key)
}
