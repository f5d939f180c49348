import { Client, clientProblem } from '../../api/client/client.ts'
import type { ClientOptions } from '../../api/client/request.ts'
import type { Org, Region } from '../../api/contract/org.ts'
import { type Outgoing, readOutgoing } from '../../api/network/outgoing.ts'
import { type Diagnostic, DiagnosticError, errorAt, failure } from '../protocol/authoring/diagnostics.ts'
import type { CreationGuard } from './apply/creationGuard.ts'
import { isUuid } from './read/identifiers.ts'
import { ServiceReads } from './read/serviceReads.ts'
import { SharedRequest } from './read/sharedRequest.ts'

export interface SessionOptions
  extends Pick<ClientOptions, 'url' | 'apiKey' | 'userAgent' | 'outgoing' | 'onAttempt' | 'onRetry'> {
  /** The organisation to which the key must belong; any when absent. */
  readonly expectedOrgId?: string | undefined
  /** Prevents duplicates of services that killed runs created; absent for none. */
  readonly guard?: CreationGuard | undefined
}

/**
 * The session of one configured provider, with one client, one rate limit bucket, and requests that are sent at most
 * once. Terraform starts a process for each walk, so a session does not outlive a walk.
 */
export class Session {
  readonly client: Client
  readonly reads: ServiceReads
  readonly guard: CreationGuard | undefined
  /** Ids of the incidents that this process opened. */
  readonly openedIncidents = new Set<string>()
  readonly #expectedOrgId: string | undefined
  readonly #org = new SharedRequest((signal) => this.client.getOrg({ signal }))
  readonly #regions = new SharedRequest((signal) => this.client.listRegions({ signal }))
  readonly #failedReads = new Set<string>()
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(options: SessionOptions) {
    this.client = new Client(options)
    this.guard = options.guard
    this.reads = new ServiceReads(this.client, (orgId, signal) => this.checkOrg(orgId, signal))
    this.#expectedOrgId = options.expectedOrgId?.toLowerCase()
  }

  /** The key's organisation. */
  org(signal: AbortSignal): Promise<Org> {
    return this.#org.result(signal)
  }

  regions(signal: AbortSignal): Promise<readonly Region[]> {
    return this.#regions.result(signal)
  }

  /**
   * Records why a read failed. Returns `known` if another read has already failed for the same reason: the run then
   * fails anyway, and a refused key need not be an error for each service.
   */
  noteFailedRead(failure: unknown): 'new' | 'known' {
    if (!(failure instanceof DiagnosticError)) return 'new'
    const reason = failure.diagnostics.map(({ detail }) => detail).join('\n')
    if (this.#failedReads.has(reason)) return 'known'
    this.#failedReads.add(reason)
    return 'new'
  }

  /** Runs `work` after all earlier work of the same `kind`. */
  inTurn<T>(kind: string, work: () => Promise<T>): Promise<T> {
    const queued = (this.#queues.get(kind) ?? Promise.resolve()).then(work, work)
    this.#queues.set(kind, queued)
    return queued
  }

  /** Throws when the key belongs to another organisation than the provider's configuration expects. */
  async checkExpectedOrg(signal: AbortSignal): Promise<void> {
    const orgId = this.#expectedOrgId
    if (orgId !== undefined) await this.checkOrg(orgId, signal, 'expected_org_id names')
  }

  /**
   * Throws when the key does not belong to organisation `orgId`. Call it before anything is read or changed: with the
   * key of another organisation every service would look deleted, and would be created again there.
   */
  async checkOrg(
    orgId: string,
    signal: AbortSignal,
    source: 'expected_org_id names' | 'the state was made in' = 'the state was made in',
  ): Promise<void> {
    const org = await this.org(signal)
    if (org.id === orgId) return
    const detail =
      `The API key belongs to organisation ${org.id} (${org.name}), but ${source} organisation ${orgId}. ` +
      'Nothing was changed. Use a key of that organisation.'
    throw failure('API key of another organisation', detail)
  }
}

/** The problem with the settings, at its attribute; `undefined` for none. Pure. */
export function settingsProblem({
  url,
  apiKey,
  expectedOrgId,
}: Pick<SessionOptions, 'url' | 'apiKey' | 'expectedOrgId'>): Diagnostic | undefined {
  if (url === '') return missing('url', 'Set url, or the environment variable PHAROS_URL.')
  if (apiKey === '') return missing('api_key', 'Set the environment variable PHAROS_API_KEY, or api_key.')
  // An empty one is also an error, because a pipeline may have failed to set it.
  if (expectedOrgId !== undefined && !isUuid(expectedOrgId)) {
    const detail =
      'expected_org_id, or the environment variable PHAROS_EXPECTED_ORG_ID, must be the UUID of an organisation. ' +
      'Omit it to accept a key of any organisation.'
    return errorAt(['expected_org_id'], 'Invalid provider configuration', detail)
  }
  const problem = clientProblem(url, apiKey)
  if (problem === undefined) return undefined
  const attribute = problem.startsWith('the API key') ? 'api_key' : 'url'
  return errorAt([attribute], 'Invalid provider configuration', `${capital(problem)}.`)
}

/**
 * The proxy and CA certificates. Throws a DiagnosticError, at the attribute `ca_file`, or without a path for the proxy.
 */
export function outgoingFor(environment: NodeJS.ProcessEnv, caFile: string | undefined): Outgoing {
  try {
    return readOutgoing(environment, caFile, 'ca_file, or the environment variable PHAROS_CA_FILE')
  } catch (error) {
    const detail = `${capital(error instanceof Error ? error.message : String(error))}.`
    const place = detail.includes('ca_file') ? ['ca_file'] : undefined
    throw new DiagnosticError(errorAt(place, 'Invalid provider configuration', detail))
  }
}

function missing(attribute: string, detail: string): Diagnostic {
  return errorAt([attribute], `Missing ${attribute}`, detail)
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
