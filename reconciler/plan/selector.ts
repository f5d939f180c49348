/** Labels of one service. */
export type Labels = Readonly<Record<string, string>>

/** Whether a service with these labels is selected. */
export type Selector = (labels: Labels) => boolean

/** A selector that cannot be parsed. The message names the column, from 1. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError'
}

const WORD = /[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?/y
const OPERATOR = /==|=|!=/y
const SPACE = /\s*/y

/**
 * Parses a selector in the syntax of `kubectl -l`: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, combined by
 * commas. `a!=b` and `notin` also select services without the label. Throws SelectorError. Pure.
 */
export function parseSelector(text: string): Selector {
  const reader = new Reader(text)
  const rules: Selector[] = []
  do rules.push(readRule(reader))
  while (reader.takes(','))
  if (!reader.isAtEnd) throw reader.expected('a comma')
  return (labels) => {
    // A label may have the name of a method of objects.
    const own: Labels = Object.assign(Object.create(null), labels)
    return rules.every((rule) => rule(own))
  }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.take(SPACE)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Consumes and returns the match of `pattern` here, and the blanks after it. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    if (pattern !== SPACE) this.take(SPACE)
    return found
  }

  takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    this.take(SPACE)
    return true
  }

  expected(what: string): SelectorError {
    const found = this.isAtEnd ? 'the end' : JSON.stringify(this.#text[this.#at])
    return new SelectorError(`expected ${what}, found ${found} at column ${this.#at + 1}`)
  }
}

function readRule(reader: Reader): Selector {
  if (reader.takes('!')) {
    const absent = readWord(reader, 'the name of a label')
    return (labels) => labels[absent] === undefined
  }
  const label = readWord(reader, 'the name of a label')
  const operator = reader.take(OPERATOR)
  if (operator !== undefined) {
    const value = reader.take(WORD) ?? ''
    return operator === '!=' ? (labels) => labels[label] !== value : (labels) => labels[label] === value
  }
  const word = reader.take(WORD)
  if (word === undefined) return (labels) => labels[label] !== undefined
  if (word !== 'in' && word !== 'notin')
    throw new SelectorError(`expected =, !=, in or notin after ${label}, found ${word}`)
  const values = readValues(reader)
  return (labels) => values.has(labels[label] ?? null) === (word === 'in')
}

function readValues(reader: Reader): ReadonlySet<string | null> {
  if (!reader.takes('(')) throw reader.expected('(')
  const values = new Set<string | null>()
  do values.add(readWord(reader, 'a value'))
  while (reader.takes(','))
  if (!reader.takes(')')) throw reader.expected('a comma or )')
  return values
}

function readWord(reader: Reader, what: string): string {
  const word = reader.take(WORD)
  if (word === undefined) throw reader.expected(what)
  return word
}
