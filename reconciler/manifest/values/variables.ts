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

/** The start of a reference to a variable. */
const OPENING = '${var.'
const WHOLE = /^\$\{var\.([A-Za-z_][A-Za-z0-9_]*)\}$/
/**
 * An occurrence of OPENING, escaped or not, with the name, the default and the end of a reference. A default without an
 * end matches the rest of the text, so that the search takes linear time.
 */
const REFERENCE = /\$\$\{var\.|\$\{var\.(?:([A-Za-z_]\w*)(?:\}|:-([^}]*)(\}|$)))?/g

/**
 * Replaces `${var.name}` and `${var.name:-default}` in the texts of `spec` and `policy`; `$${var.` is an escaped `${var.`.
 * Undefined variables and malformed references, which stay, are problems. Pure.
 */
export function substituteVariables(
  mapping: Mapping,
  variables: ReadonlyMap<string, Variable>,
): { readonly mapping: Mapping; readonly problems: readonly VariableProblem[] } {
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
  const troubles = new Set<string | null>()
  const result = text.replace(REFERENCE, (found, name?: string, fallback?: string, end?: string) => {
    if (found.startsWith('$$')) return OPENING
    const isMalformed = name === undefined || end === ''
    const known = isMalformed ? undefined : (variables.get(name) ?? fallback)
    if (known === undefined) troubles.add(isMalformed ? null : name)
    return String(known)
  })
  for (const name of troubles) problems.push({ path, name })
  return result
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
