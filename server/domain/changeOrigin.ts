import { type ChangeSource, UNKNOWN_SOURCE } from '../../api/contract/changeSource.ts'
import { type Actor, OPERATOR } from './accounts/actor.ts'
import { timestamp } from './environment.ts'

/** Maximum length of a tool's name, and of its version (characters). */
const PRODUCT_CHARS_MAX = 100
/** The first product of a User-Agent: a name and an optional version (RFC 9110). */
const PRODUCT = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\/([!#$%&'*+.^_`|~0-9A-Za-z-]+))?(?=$|[\s;(])/

/** The origin of a generation of a service. Gap G48. */
export interface ChangeOrigin extends ChangeSource {
  /** Time of the change, in ISO 8601. */
  readonly at: string
  /** First product of the client's User-Agent, with its version; `null` when it names none. */
  readonly tool: string | null
  readonly toolVersion: string | null
  /** Id of the API key that made the change; `null` when none did. */
  readonly keyId: string | null
  /** Id of the person who made the change; `null` for a change with a key, which belongs to an organisation. */
  readonly personId: string | null
}

/** The author of a change with this origin; without an origin it is the operator. Pure. */
export function actorOf(origin: ChangeOrigin | undefined): Actor {
  if (origin?.personId != null) return { kind: 'person', id: origin.personId }
  return origin?.keyId == null ? OPERATOR : { kind: 'key', id: origin.keyId }
}

/** The first product of a User-Agent with its version, such as `pharos/1.2.0`; `null` when it names none. Pure. */
export function productOf(userAgent: string | undefined): string | null {
  const [product] = PRODUCT.exec(userAgent ?? '') ?? []
  return product?.slice(0, PRODUCT_CHARS_MAX) ?? null
}

/** The origin of a change made with a key. Pure. */
export function originOf(change: {
  readonly nowMs: number
  readonly keyId: string
  readonly userAgent: string | undefined
  readonly source: ChangeSource
}): ChangeOrigin {
  const { nowMs, keyId, userAgent, source } = change
  const [, tool, toolVersion] = PRODUCT.exec(userAgent ?? '') ?? []
  const { repository, commit, path } = source
  return {
    repository,
    commit,
    path,
    at: timestamp(nowMs),
    tool: tool?.slice(0, PRODUCT_CHARS_MAX) ?? null,
    toolVersion: toolVersion?.slice(0, PRODUCT_CHARS_MAX) ?? null,
    keyId,
    personId: null,
  }
}

/** The origin of a change that a person makes in the console. Pure. */
export function originOfPerson(personId: string, nowMs: number): ChangeOrigin {
  return { ...UNKNOWN_SOURCE, at: timestamp(nowMs), tool: null, toolVersion: null, keyId: null, personId }
}

/** The managers of services, by the names that people know. */
export const MANAGERS = ['Terraform', 'GitOps', 'API', 'Console', 'Unknown'] as const
export type Manager = (typeof MANAGERS)[number]

/** The manager of a service. */
export interface Management {
  readonly manager: Manager
  /** The last change by the manager; `null` when it was not stored. */
  readonly origin: ChangeOrigin | null
  /**
   * Time of the first change that people made in the console after the manager's last one; `null` when there is none.
   */
  readonly differsSince: string | null
}

/**
 * The manager of a service whose changes have these `origins`, newest first. A service written with a key is managed by
 * the key's tool, even if people change it in the console later, because the tool's next run would undo that. Pure.
 */
export function managementOf(origins: readonly (ChangeOrigin | null)[]): Management {
  const written = origins.findIndex((origin) => origin !== null && origin.keyId !== null)
  const [newest = null] = origins
  if (written === -1) return { manager: managerOf(newest), origin: newest, differsSince: null }
  const [first] = origins.slice(0, written).toReversed()
  const origin = origins[written] ?? null
  return { manager: managerOf(origin), origin, differsSince: first?.at ?? null }
}

/** The manager that made a change. Pure. */
export function managerOf(origin: ChangeOrigin | null): Manager {
  if (origin === null) return 'Unknown'
  if (origin.personId !== null) return 'Console'
  switch (origin.tool) {
    case 'terraform-provider-pharos':
      return 'Terraform'
    case 'pharos':
      return 'GitOps'
    default:
      return 'API'
  }
}
