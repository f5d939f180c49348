import { type Mapping, mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import { suggestionFor } from '../suggestion.ts'

/** Value of a variable: whole scalars keep its type. */
export type Variable = string | number | boolean

/** A reference that cannot be replaced: `name` is not defined, or null where what follows `${var.` is no reference. */
export interface VariableProblem {
  readonly path: ManifestPath
  readonly name: string | null
}

/** A manifest with its variables replaced, and what could not be. */
export interface Substituted {
  readonly mapping: Mapping
  readonly problems: readonly VariableProblem[]
}

/** What every reference to a variable starts with. */
const OPENING = '${var.'
const WHOLE = /^\$\{var\.([A-Za-z_][A-Za-z0-9_]*)\}$/
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const DEFAULT = ':-'

/**
 * Replaces `${var.name}` and `${var.name:-default}` in the texts of `spec` and `policy`; `$${var.` stands for itself
 * without the first dollar. A variable that is not defined is a problem, never an empty text, and so is `${var.` with
 * anything else behind it, which looks like a reference. Pure.
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

/** Whether there is anything to replace in `value`: in most manifests there is not, and they need no copy. */
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

/** One place at which a text says `${var.`. */
type Reference = { readonly before: string } & (
  | { readonly kind: 'literal' }
  /** `name` is null where no reference could be read. */
  | { readonly kind: 'reference'; readonly name: string | null; readonly fallback: string | undefined }
)

/** The references of a text, one after the other; no part of the text is looked at twice. */
class References {
  readonly #text: string
  #from = 0
  /** Whether there is no further brace that could close a default. */
  #isUnclosed = false

  constructor(text: string) {
    this.#text = text
  }

  /** What stands behind the last reference. */
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
    const behind = this.#from + name.length
    if (this.#text[behind] === '}') {
      this.#from = behind + 1
      return { name, fallback: undefined }
    }
    if (!this.#text.startsWith(DEFAULT, behind) || this.#isUnclosed) return none
    const end = this.#text.indexOf('}', behind)
    this.#isUnclosed = end < 0
    if (end < 0) return none
    this.#from = end + 1
    return { name, fallback: this.#text.slice(behind + DEFAULT.length, end) }
  }
}

/** `value` such that `substituteVariables` leaves its texts as they are here: every `${var.` gets a dollar more. Pure. */
export function withoutReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.split(OPENING).join(`$${OPENING}`)
  if (Array.isArray(value)) return value.map(withoutReferences)
  const inner = mappingOf(value)
  if (inner === undefined) return value
  return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, withoutReferences(item)]))
}

/** What to say of the reference to `name`, null for one that cannot be read. Pure. */
export function variableWords(
  name: string | null,
  variables: ReadonlyMap<string, Variable>,
): { readonly message: string; readonly hint: string } {
  if (name === null) {
    const hint = `write \${var.name} or \${var.name:-default}, the name of letters, digits and "_"; $\${var. stands for itself`
    return { message: 'has "${var." without a name and a brace to close it', hint }
  }
  const meant = suggestionFor(name, [...variables.keys()])
  const hint = `define it under spec.vars of the Environment that --env names, or give \${var.${name}:-default}`
  return {
    message: `refers to the variable ${name}, which is not defined`,
    hint: meant === undefined ? hint : `did you mean ${meant}?`,
  }
}
