import { assertionSchema } from '../../api/contract/assertion.ts'
import { formatDuration } from '../../api/contract/duration.ts'
import { formatPath, pointerSteps } from '../../api/contract/problem.ts'
import { visible } from '../../api/contract/visibleText.ts'
import { manifestPathOf } from '../manifest/compile/compileService.ts'
import type { ManifestPath } from '../manifest/read/position.ts'
import { exportAssertion } from '../manifest/schema/assertionForm.ts'
import type { PlannedField } from '../plan/planValue.ts'
import { isSealed } from '../plan/serviceDiff.ts'
import { shortened } from './counts.ts'

/** Longest value that is not shortened (characters). --json does not shorten. */
const VALUE_CHARS_MAX = 120
/** The same for an endpoint, of which a reviewer should see most. */
const ENDPOINT_CHARS_MAX = 600

/** Path in a manifest, below `spec`, of the field at `pointer` of a canonical service. Pure. */
export function fieldPath(pointer: string): ManifestPath {
  const steps = pointerSteps(pointer).map((step, index, all) =>
    /^\d+$/.test(step) && all[index - 1] !== 'headers' ? Number(step) : step,
  )
  return manifestPathOf(steps, false).slice(1)
}

/** A changed field in the form of manifests: both values, or only what happened to a secret. */
export type FieldParts =
  | { readonly path: string; readonly from: string; readonly to: string }
  | { readonly path: string; readonly secret: string }

/** `field` in the form of manifests. Pure. */
export function fieldParts(field: PlannedField): FieldParts {
  const path = formatPath(fieldPath(field.pointer))
  if (isSealed(field.from) && isSealed(field.to)) return { path, secret: secretWord(field) }
  return { path, from: valueText(field.from, path), to: valueText(field.to, path) }
}

/** `endpoints[0]: {url: "https://shop.example.com/"}`: the canonical value at `pointer` in the form of manifests. Pure. */
export function leafText(pointer: string, value: unknown): string {
  const path = formatPath(fieldPath(pointer))
  return `${path}: ${valueText(value, path)}`
}

/** `endpoints[0].timeout: 5s → 10s`; secrets are never shown. Pure. */
export function fieldText(field: PlannedField): string {
  const parts = fieldParts(field)
  return 'secret' in parts
    ? `${parts.path}: secret ${parts.secret}`
    : `${parts.path}: ${parts.from} → ${parts.to}`
}

function secretWord(field: PlannedField): string {
  switch (field.reason) {
    case 'git':
    case 'secret':
      return 'changed'
    case 'drift':
      return 'replaced outside'
    case 'first-apply':
    case 'differs':
      return 'sent, because the current value cannot be compared'
  }
}

function valueText(value: unknown, path: string): string {
  if (value === undefined || value === null) return 'none'
  if (path === 'interval' && typeof value === 'number') return formatDuration({ secs: value, nanos: 0 })
  const isWhole = ENDPOINT_PATH.test(path)
  return shortened(visible(flowText(readable(value, path))), isWhole ? ENDPOINT_CHARS_MAX : VALUE_CHARS_MAX)
}

const ENDPOINT_PATH = /^endpoints\[\d+\]$/
const ASSERTION_PATH = /\.assertions\[\d+\]$/

/** The canonical `value` in the form of manifests. */
function readable(value: unknown, path: string): unknown {
  if (ASSERTION_PATH.test(path)) {
    const assertion = assertionSchema.safeParse(value)
    return assertion.success ? exportAssertion(assertion.data) : value
  }
  if (typeof value !== 'object' || value === null) return value
  if (isSealed(value)) return SECRET
  if ('plain' in value) return value.plain
  if ('call' in value) return readableEndpoint(value, path)
  if (isDuration(value)) return formatDuration(value)
  if (Array.isArray(value)) return value.map((item, index) => readable(item, `${path}[${index}]`))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, readable(inner, `${path}.${key}`)]),
  )
}

/** A secret among values: no written text equals it. */
const SECRET = Symbol('secret')

/** A canonical endpoint in the form of manifests: without unset fields, and without `call`. */
function readableEndpoint(
  { call, assertions, ...rest }: { readonly call: unknown; readonly assertions?: unknown },
  path: string,
): object {
  const http = typeof call === 'object' && call !== null && 'Http' in call ? call.Http : undefined
  const fields = Object.entries({ ...rest, ...(typeof http === 'object' ? http : {}), assertions })
  const isSet = (value: unknown): boolean =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    fields.flatMap(([name, value]) => {
      const [field = name] = manifestPathOf(['endpoints', 0, 'call', 'Http', name], false).slice(3)
      const isUsual = !isSet(value) || (field === 'method' && value === 'GET')
      return isUsual ? [] : [[field, readable(value, `${path}.${field}`)]]
    }),
  )
}

/** JSON without quotes around keys, as in YAML. */
function flowText(value: unknown): string {
  if (value === SECRET) return '(secret)'
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, inner]) => `${key}: ${flowText(inner)}`)
  return `{${parts.join(', ')}}`
}

function isDuration(value: object): value is { secs: number; nanos: number } {
  return (
    'secs' in value && typeof value.secs === 'number' && 'nanos' in value && typeof value.nanos === 'number'
  )
}
