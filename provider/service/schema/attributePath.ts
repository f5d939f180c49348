import { ASSERTION_LAYOUTS } from '../../../api/contract/assertion.ts'
import type { Path, PathStep } from '../../protocol/values/path.ts'
import { KINDS } from './assertionKinds.ts'
import { attributeNameOf, contractNameOf, OPERATORS, SUBJECTS } from './operators.ts'

type ContractPath = readonly (string | number)[]

const HTTP_FIELDS: Readonly<Record<string, string>> = { max_redirects_to_follow: 'max_redirects' }

/**
 * The attribute of `pharos_service` for the field at `path` of a service request: the deepest one to which Terraform can refer.
 * Pure.
 */
export function attributePath(path: ContractPath): Path {
  const [field, index, part, ...rest] = path
  if (field === 'interval_secs') return ['interval']
  // Elements of a set have no path.
  if (field === 'regions') return ['regions']
  if (field !== 'endpoints' || typeof index !== 'number') return path.slice(0, 1).map(String)
  const endpoint: Path = ['endpoints', index]
  if (part === 'call') return [...endpoint, 'http', ...httpPath(rest.slice(1))]
  if (part === 'assertions') return [...endpoint, 'assertions', ...assertionPath(rest)]
  return part === undefined ? endpoint : [...endpoint, String(part)]
}

function httpPath([field, ...rest]: ContractPath): Path {
  if (field === undefined) return []
  if (field === 'headers') {
    const [name, ...inside] = rest
    return name === undefined ? ['headers'] : ['headers', { key: String(name) }, ...inside.map(String)]
  }
  if (field === 'body') return ['body', ...rest.map(String)]
  return [HTTP_FIELDS[field] ?? String(field)]
}

function assertionPath([index, kind, ...rest]: ContractPath): Path {
  const steps: PathStep[] = typeof index === 'number' ? [index] : []
  const ourKind = kind === undefined ? undefined : attributeNameOf(KINDS, String(kind))
  if (ourKind === undefined) return steps
  steps.push(ourKind)
  const { operators, subjectField } = ASSERTION_LAYOUTS[contractNameOf(KINDS, ourKind)]
  const [field, operator, bound] = rest
  if (subjectField !== undefined && field === subjectField) return [...steps, SUBJECTS[subjectField]]
  const ours = operator === undefined ? undefined : attributeNameOf(OPERATORS[operators], String(operator))
  if (ours === undefined) return steps
  return ours === 'between' && typeof bound === 'number' ? [...steps, ours, bound] : [...steps, ours]
}
