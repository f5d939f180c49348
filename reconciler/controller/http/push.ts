import { repositoryIdentity } from '../../git/gitUrl.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import type { HookConfig } from '../config/controllerSchema.ts'
import { parsedJson } from '../../text/parsedJson.ts'

type Fields = Readonly<Record<string, unknown>>

/** The target of a push. No other content of a webhook is used, because commits are always fetched. */
export interface Push {
  /** Names of branches; `all` when the webhook names none. */
  readonly branches: readonly string[] | 'all'
  /** Identities of the repository, one for each of its addresses in the webhook. */
  readonly repositories: readonly string[]
}

/** The target of the push in a webhook of `kind`. Pure. */
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
  return parsedJson(text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text)
}

function branchIn(ref: string): readonly string[] {
  const prefix = 'refs/heads/'
  return ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []
}

/** Fields of GitHub, GitLab and generic senders that contain an address of the repository. */
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
