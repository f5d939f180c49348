import { mappingOf } from '../../manifest/defaults.ts'
import type { HookConfig } from '../config/controllerSchema.ts'

/**
 * Branches that a webhook says were pushed to; `all` when it does not speak of branches. Nothing else of it is
 * ever used: what is applied is always fetched. Pure.
 */
export function pushedBranches(kind: HookConfig['kind'], body: Buffer): readonly string[] | 'all' {
  const payload = mappingOf(parsed(body))
  if (payload === undefined) return kind === 'generic' ? 'all' : []
  if (kind === 'bitbucket') return bitbucketBranches(payload)
  if (typeof payload.ref === 'string') return branchIn(payload.ref)
  return kind === 'generic' ? 'all' : []
}

/** The JSON of `body`, or the one in the field `payload` of a form, as GitHub and Gitea send it unless told otherwise. */
function parsed(body: Buffer): unknown {
  const text = body.toString('utf8')
  try {
    return JSON.parse(text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text)
  } catch {
    // A body that is no JSON names no branch.
    return undefined
  }
}

function branchIn(ref: string): readonly string[] {
  const prefix = 'refs/heads/'
  return ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []
}

/** Bitbucket Cloud lists changes below `push`, Bitbucket Data Center at the top. */
function bitbucketBranches(payload: Readonly<Record<string, unknown>>): readonly string[] {
  const changes = mappingOf(payload.push)?.changes ?? payload.changes
  if (!Array.isArray(changes)) return []
  return changes.flatMap((one: unknown) => {
    const change = mappingOf(one)
    if (typeof change?.refId === 'string') return branchIn(change.refId)
    const target = mappingOf(change?.new) ?? mappingOf(change?.old)
    return target?.type === 'branch' && typeof target.name === 'string' ? [target.name] : []
  })
}
