import { repositoryIdentity } from '../../git/gitUrl.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import type { HookConfig } from '../config/controllerSchema.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a webhook says was pushed to. Nothing else of it is ever used: what is applied is always fetched. */
export interface Push {
  /** Names of branches; `all` when the webhook does not speak of branches. */
  readonly branches: readonly string[] | 'all'
  /** Identities of the repository, one for each address that is named; empty when none is. */
  readonly repositories: readonly string[]
}

/** What a webhook of `kind` says was pushed to. Pure. */
export function pushIn(kind: HookConfig['kind'], body: Buffer): Push {
  const payload = mappingOf(parsed(body))
  if (payload === undefined) return { branches: kind === 'generic' ? 'all' : [], repositories: [] }
  return { branches: branchesIn(kind, payload), repositories: repositoriesIn(payload) }
}

function branchesIn(kind: HookConfig['kind'], payload: Fields): Push['branches'] {
  if (typeof payload.ref === 'string') return branchIn(payload.ref)
  return kind === 'generic' ? 'all' : []
}

/** The JSON of `body`, or the one in the field `payload` of a form, as GitHub sends it by default. */
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

/** Fields that hold an address of the repository, as GitHub and GitLab name them and `generic` senders may. */
const ADDRESS_FIELDS = [
  'clone_url',
  'ssh_url',
  'git_url',
  'html_url',
  'git_http_url',
  'git_ssh_url',
  'http_url',
  'web_url',
  'url',
] as const

function repositoriesIn({ repository, project }: Fields): readonly string[] {
  const addresses = [repository, project].flatMap((named) => {
    const fields = mappingOf(named)
    if (fields === undefined) return [named]
    return ADDRESS_FIELDS.map((field) => fields[field])
  })
  const texts = addresses.filter((address) => typeof address === 'string')
  return [...new Set(texts.flatMap((address) => repositoryIdentity(address) ?? []))]
}
