import type { FastifyReply } from 'fastify'
import type { Html } from '../../../web/html.ts'
import type { Actor } from '../../domain/accounts/actor.ts'
import type { Permission, Role } from '../../domain/accounts/roles.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Measurements } from '../../results/measurements/measurements.ts'
import type { FindMasterKey } from '../../secrets/masterKeys.ts'
import type { Membership, Person, StoredSession } from '../../store/accountStore.ts'
import type { Store } from '../../store/store.ts'
import type { PasswordHasher } from '../credentials/passwordHasher.ts'
import type { PasswordThrottle } from '../credentials/passwordThrottle.ts'
import type { SectionId } from '../frame/sections.ts'
import type { IncidentWatch } from '../live/incidentWatch.ts'
import type { LiveStreams } from '../live/liveStreams.ts'
import type { ServiceIndex } from '../live/serviceIndex.ts'

/** Dependencies of the console. */
export interface ConsoleParts {
  readonly store: Store
  readonly environment: Environment
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** `undefined` when this process reads no results. */
  readonly measurements: Measurements | undefined
  readonly findMasterKey: FindMasterKey
  /** Whether checks of a URL are forbidden. */
  readonly isBlocked: (url: string) => boolean
  /** Public origin of the console. */
  readonly consoleUrl: string
  readonly passwords: PasswordHasher
  readonly throttle: PasswordThrottle
  readonly streams: LiveStreams
  readonly incidentWatch: IncidentWatch
  readonly index: Pick<ServiceIndex, 'read' | 'readServices'>
  /** Called with the error of a 500 response. */
  readonly onError: (error: unknown) => void
}

/** A person with a valid session. */
export interface SignedIn {
  readonly person: Person
  readonly session: StoredSession
  /** Ordered by name of the organisation. */
  readonly memberships: readonly Membership[]
}

/** A request. */
export interface ConsoleRequest extends ConsoleParts {
  /** Named parts of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Fields of a form; empty for GET. */
  readonly form: URLSearchParams
  /** Path and query of the request. */
  readonly url: string
  readonly nowMs: number
  /** Network of the client, for limits. */
  readonly network: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** A request of a member of an organisation, with the permission of the route. */
export interface OrgRequest extends ConsoleRequest {
  readonly person: Person
  readonly session: StoredSession
  readonly role: Role
  readonly org: { readonly id: string; readonly name: string; readonly plan: string }
  /** Path of the pages of the organisation: `/o/<id>`. */
  readonly root: string
  /** Path of its actions: `/api/o/<id>`. */
  readonly actions: string
  /** For the audit log. */
  readonly by: Actor
  /** Whether the member has a permission, for conditional parts of a page. */
  readonly may: (permission: Permission) => boolean
}

/** A request of a signed-in person, outside of organisations. */
export interface PersonRequest extends ConsoleRequest, SignedIn {
  readonly by: Actor
}

/** A request that needs no session. */
export interface OpenRequest extends ConsoleRequest {
  /** `undefined` without a valid session. */
  readonly signedIn: SignedIn | undefined
}

/** A cookie to set; `value` '' removes it. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly maxAgeS?: number
}

/** A page in the frame of the console. */
export interface Page {
  readonly kind: 'page'
  /** Title of the document; `body` has its own h1. */
  readonly title: string
  readonly body: Html
  /** The navigation section of the page; absent for none. */
  readonly section?: SectionId
  /** 422 for a form with faults, 409 after a concurrent change; 200 when absent. */
  readonly status?: number
  readonly retryAfterS?: number
  /** Whether nothing was changed, so that a form may be sent again by a reload. */
  readonly mayResend?: boolean
  readonly cookies?: readonly Cookie[]
  /** Without navigation, for a wall screen. */
  readonly isBare?: boolean
}

/** The response of a route. */
export type RouteResponse =
  | Page
  | {
      readonly kind: 'redirect'
      /** Path in the console. */
      readonly to: string
      /** A sentence for the next page. */
      readonly flash?: string
      readonly cookies?: readonly Cookie[]
      /** Whether the browser clears its cache, at sign-out. */
      readonly isEnd?: boolean
    }
  | { readonly kind: 'file'; readonly type: string; readonly name: string; readonly content: string }
  /** Takes over the reply, for event streams. */
  | { readonly kind: 'stream'; readonly start: (reply: FastifyReply) => void }
  | { readonly kind: 'not found' }

/** The largest form (bytes), unless the route says otherwise. */
export const FORM_BYTES_MAX = 64 * 1_024
/**
 * The largest form with the text of an update or with chosen services (bytes): a form takes up to twelve bytes for a
 * character.
 */
export const LONG_FORM_BYTES_MAX = 256 * 1_024

interface RouteFacts {
  readonly method: 'GET' | 'POST'
  /** Pages are GET; actions are POST below `/api`. `:name` matches one path segment. */
  readonly path: string
  /** FORM_BYTES_MAX when absent. */
  readonly formBytesMax?: number
}

/** A route of an organisation; its path begins with `/o/:org` or `/api/o/:org`. */
export interface OrgRoute extends RouteFacts {
  readonly access: Permission
  /** Whether the action needs a password given in the last 15 minutes. */
  readonly needsPassword?: boolean
  readonly handle: (request: OrgRequest) => Promise<RouteResponse>
}

/** A route of a person. */
export interface PersonRoute extends RouteFacts {
  readonly access: 'signed in'
  readonly handle: (request: PersonRequest) => Promise<RouteResponse>
}

/** A route without a session. */
export interface OpenRoute extends RouteFacts {
  readonly access: 'anyone'
  readonly handle: (request: OpenRequest) => Promise<RouteResponse>
}

/** A route of the console. The guard decides which requests reach its handler. */
export type Route = OrgRoute | PersonRoute | OpenRoute

/** Whether `route` belongs to an organisation. Pure. */
export function isOrgRoute(route: Route): route is OrgRoute {
  return route.access !== 'anyone' && route.access !== 'signed in'
}

/** Who may use a route of an organisation, and what else it needs. */
type Rule = OrgRoute['access'] | Pick<OrgRoute, 'access' | 'needsPassword' | 'formBytesMax'>

/** A page of an organisation, at `path` below `/o/:org/`. Pure. */
export function orgPage(path: string, rule: Rule, handle: OrgRoute['handle']): OrgRoute {
  return {
    method: 'GET',
    path: `/o/:org/${path}`,
    ...(typeof rule === 'string' ? { access: rule } : rule),
    handle,
  }
}

/** An action of an organisation, at `path` below `/api/o/:org/`. Pure. */
export function orgAction(path: string, rule: Rule, handle: OrgRoute['handle']): OrgRoute {
  return { ...orgPage(path, rule, handle), method: 'POST', path: `/api/o/:org/${path}` }
}
