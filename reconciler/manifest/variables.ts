import { type Mapping, mappingOf } from './defaults.ts'
import type { ManifestPath } from './position.ts'

/** Value of a variable: whole scalars keep its type. */
export type Variable = string | number | boolean

/** A reference that cannot be replaced. */
export interface VariableProblem {
  readonly path: ManifestPath
  readonly message: string
  readonly hint: string
}

/** A manifest with its variables replaced, and what could not be. */
export interface Substituted {
  readonly mapping: Mapping
  readonly problems: readonly VariableProblem[]
}

const REFERENCE = /\$(\$?)\{var\.([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g
const WHOLE = /^\$\{var\.([A-Za-z_][A-Za-z0-9_]*)\}$/

/**
 * Replaces `${var.name}` and `${var.name:-default}` in the texts of `spec` and `policy`; `$${var.name}` stands
 * for itself without the first dollar. A variable that is not defined is a problem, never an empty text. Pure.
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

const MENTION = '{var.'

/** Whether there is anything to replace in `value`: in most manifests there is not, and they need no copy. */
function mentionsVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(MENTION)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(mentionsVariable)
}

function replaceText(
  text: string,
  path: ManifestPath,
  variables: ReadonlyMap<string, Variable>,
  problems: VariableProblem[],
): unknown {
  if (!text.includes(MENTION)) return text
  const whole = WHOLE.exec(text)?.[1]
  const value = whole === undefined ? undefined : variables.get(whole)
  if (value !== undefined) return value
  return text.replaceAll(
    REFERENCE,
    (reference, dollar: string, name: string, fallback: string | undefined) => {
      if (dollar !== '') return reference.slice(1)
      const known = variables.get(name) ?? fallback
      if (known !== undefined) return String(known)
      const hint = `define it under spec.vars of the Environment that --env names, or give \${var.${name}:-default}`
      problems.push({ path, message: `refers to the variable ${name}, which is not defined`, hint })
      return reference
    },
  )
}
