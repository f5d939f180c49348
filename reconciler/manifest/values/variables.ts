import { type Mapping, mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import { suggestionFor } from '../suggestion.ts'

/** Value of a variable; a scalar that is one reference takes its type. */
export type Variable = string | number | boolean

/** A reference that cannot be replaced: `name` is undefined, or null when the reference is malformed. */
export interface VariableProblem {
  readonly path: ManifestPath
  readonly name: string | null
}

/** A manifest with its variables replaced, and the references that could not be. */
export interface Substituted {
  readonly mapping: Mapping
  readonly problems: readonly VariableProblem[]
}

/** The start of a reference to a variable. */
const OPENING = '${var.'
const WHOLE = /^\$\{var\.([A-Za-z_][A-Za-z0-9_]*)\}$/
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const DEFAULT = ':-'

/**
 * Replaces `${var.name}` and `${var.name:-default}` in the texts of `spec` and `policy`; `$${var.` is an escaped `${var.`.
 * Undefined variables and malformed references are problems. Pure.
 */
export function substituteVariables(mapping: Mapping, variables: ReadonlyMap<string, Variable>): Substituted {
  if (!mentionsVariable(mapping.spec) && !mentionsVariable(mapping.policy)) return { mapping, problems: [] }
  const problems: VariableProblem[] = []
  const replace = (value: unknown, path: ManifestPath): unknown => {
    if (typeof value === 'string') return replaceText(value, path, variables, problems)
    if (Array.isArray(value)) return value.map((item, index) => replace(item, [...path, index]))
    const inner = mappingOf(value)
    if (inner === undefined) return value
    return Object.fromEntries(
      Object.entries(inner).map(([key, item]) => [key, replace(item, [...path, key])]),
    )
  }
  const replaced = Object.entries(mapping).map(([key, value]) => [
    key,
    key === 'spec' || key === 'policy' ? replace(value, [key]) : value,
  ])
  return { mapping: Object.fromEntries(replaced), problems }
}

/** Whether `value` contains a reference; most manifests have none and need no copy. */
function mentionsVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(OPENING)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mentionsVariable)
}

function replaceText(
  text: string,
  path: ManifestPath,
  variables: ReadonlyMap<string, Variable>,
  problems: VariableProblem[],
): unknown {
  if (!text.includes(OPENING)) return text
  const whole = WHOLE.exec(text)?.[1]
  const value = whole === undefined ? undefined : variables.get(whole)
  if (value !== undefined) return value
  const reader = new References(text)
  const troubles = new Set<string | null>()
  let result = ''
  for (let found = reader.next(); found !== undefined; found = reader.next()) {
    result += found.before
    if (found.kind === 'literal') result += OPENING
    else {
      const known = found.name === null ? undefined : (variables.get(found.name) ?? found.fallback)
      if (known === undefined) troubles.add(found.name)
      else result += String(known)
    }
  }
  for (const name of troubles) problems.push({ path, name })
  return `${result}${reader.rest()}`
}

/** One occurrence of `${var.` in a text. */
type Reference = { readonly before: string } & (
  | { readonly kind: 'literal' }
  /** `name` is null for a malformed reference. */
  | { readonly kind: 'reference'; readonly name: string | null; readonly fallback: string | undefined }
)

/** Reads the references of a text in linear time. */
class References {
  readonly #text: string
  #from = 0
  /** Whether no brace follows that could close a default. */
  #isUnclosed = false

  constructor(text: string) {
    this.#text = text
  }

  /** The text after the last reference. */
  rest(): string {
    return this.#text.slice(this.#from)
  }

  next(): Reference | undefined {
    const at = this.#text.indexOf(OPENING, this.#from)
    if (at < 0) return undefined
    const isLiteral = at > this.#from && this.#text[at - 1] === '$'
    const before = this.#text.slice(this.#from, isLiteral ? at - 1 : at)
    this.#from = at + OPENING.length
    return isLiteral ? { before, kind: 'literal' } : { before, kind: 'reference', ...this.#reference() }
  }

  #reference(): { readonly name: string | null; readonly fallback: string | undefined } {
    NAME.lastIndex = this.#from
    const [name] = NAME.exec(this.#text) ?? []
    const none = { name: null, fallback: undefined }
    if (name === undefined) return none
    const nameEnd = this.#from + name.length
    if (this.#text[nameEnd] === '}') {
      this.#from = nameEnd + 1
      return { name, fallback: undefined }
    }
    if (!this.#text.startsWith(DEFAULT, nameEnd) || this.#isUnclosed) return none
    const end = this.#text.indexOf('}', nameEnd)
    this.#isUnclosed = end < 0
    if (end < 0) return none
    this.#from = end + 1
    return { name, fallback: this.#text.slice(nameEnd + DEFAULT.length, end) }
  }
}

/** `value` with every `${var.` escaped, so that `substituteVariables` restores it. Pure. */
export function withoutReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.split(OPENING).join(`$${OPENING}`)
  if (Array.isArray(value)) return value.map(withoutReferences)
  const inner = mappingOf(value)
  if (inner === undefined) return value
  return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, withoutReferences(item)]))
}

/** Message and hint for the reference to `name`; null for a malformed one. Pure. */
export function variableWords(
  name: string | null,
  variables: ReadonlyMap<string, Variable>,
): { readonly message: string; readonly hint: string } {
  if (name === null) {
    const hint = `write \${var.name} or \${var.name:-default}, the name of letters, digits and "_"; $\${var. stands for itself`
    return { message: 'has "${var." without a name and a closing brace', hint }
  }
  const meant = suggestionFor(name, [...variables.keys()])
  const hint = `define it under spec.vars of the Environment that --env names, or give \${var.${name}:-default}`
  return {
    message: `refers to the variable ${name}, which is not defined`,
    hint: meant === undefined ? hint : `did you mean ${meant}?`,
  }
}
