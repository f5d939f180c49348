import { type ChangeSource, UNKNOWN_SOURCE } from '../../api/contract/changeSource.ts'
import { type Actor, OPERATOR } from './accounts/actor.ts'
import { timestamp } from './environment.ts'

/** Longest name, and longest version, of a tool (characters). */
const PRODUCT_CHARS_MAX = 100
/** The first product of a User-Agent: a name and perhaps a version (RFC 9110). */
const PRODUCT = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\/([!#$%&'*+.^_`|~0-9A-Za-z-]+))?(?=$|[\s;(])/

/** The origin of a generation of a service. Gap G48. */
export interface ChangeOrigin extends ChangeSource {
  /** When it was made. */
  readonly at: string
  /** First product of the client's User-Agent, and its version; `null` when it names none. */
  readonly tool: string | null
  readonly toolVersion: string | null
  /** Id of the API key that made it; `null` for a change that no key made. */
  readonly keyId: string | null
  /** The person who made it; `null` for a change with a key, which belongs to an organisation. */
  readonly personId: string | null
}

/** Who made a change of this origin: the operator where there is none. Pure. */
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
  return {
    ...source,
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

/** What manages services, as people know it. */
export const MANAGERS = ['Terraform', 'GitOps', 'API', 'Console', 'Unknown'] as const
export type Manager = (typeof MANAGERS)[number]

/** What manages a service. */
export interface Management {
  readonly manager: Manager
  /** The last change by the manager; `null` when it was not kept. */
  readonly origin: ChangeOrigin | null
  /** When people changed the service in the console after its manager did, the first time; `null` when they did not. */
  readonly differsSince: string | null
}

/**
 * What manages a service with changes of these `origins`, the newest first. What a key has written is managed by its tool,
 * whatever people change in the console later: the tool's next run would undo that. Pure.
 */
export function managementOf(origins: readonly (ChangeOrigin | null)[]): Management {
  const written = origins.findIndex((origin) => origin !== null && origin.keyId !== null)
  const [newest = null] = origins
  if (written === -1) return { manager: managerOf(newest), origin: newest, differsSince: null }
  const [first] = origins.slice(0, written).toReversed()
  const origin = origins[written] ?? null
  return { manager: managerOf(origin), origin, differsSince: first?.at ?? null }
}

/** What made a change. Pure. */
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
