import { createHash } from 'node:crypto'
import * as z from 'zod'
import { isApiKey } from '../contract/apiKey.ts'
import { parsedUrl } from '../contract/endpointUrl.ts'
import { type Org, orgSchema, type Region, regionSchema } from '../contract/org.ts'
import { type ServiceRequest, type ServiceResponse, serviceResponseSchema } from '../contract/service.ts'
import type { HttpResponse } from './attempt.ts'
import { firstProblem, readNoContent, readResponse as read } from './contractResponse.ts'
import { IncidentClient } from './incidentClient.ts'
import { agreedOrg } from './keyRing.ts'
import type { CallOptions, ClientOptions, ClientRequest } from './request.ts'
import { Sender } from './sender.ts'

/** A listed service that could not be decoded, such as one with a newer kind of assertion. */
export interface UnreadableService {
  readonly id: string
  readonly problem: string
}

/** Response to GET /v1/services: a service that cannot be decoded does not hide the others. */
export interface ServiceList {
  readonly services: readonly ServiceResponse[]
  readonly unreadable: readonly UnreadableService[]
}

/** The read-only operations, for building a plan. */
export type ReadingClient = Pick<Client, 'getOrg' | 'listRegions' | 'listServices' | 'getService'>

/** The operations on services that a reconciler needs. */
export type ServiceClient = ReadingClient &
  Pick<Client, 'createService' | 'replaceService' | 'deleteService' | 'pauseService' | 'resumeService'>

/** The problem of `url` or `apiKey`, as a sentence without the key; `undefined` when there is none. Pure. */
export function clientProblem(url: string, apiKey: string): string | undefined {
  const parsed = parsedUrl(url)
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    return 'the API URL must be an absolute http:// or https:// URL'
  }
  if (parsed.username !== '' || parsed.password !== '') return 'the API URL must not contain credentials'
  if (parsed.search !== '' || parsed.hash !== '') return 'the API URL must not have a query or a fragment'
  if (!isApiKey(apiKey))
    return 'the API key must be a prefix such as pharos_, followed by 64 hexadecimal characters'
  return undefined
}

/**
 * The API as methods, one for each operation. Every attempt passes the limiter. After a 429 the client waits and
 * retries until the signal aborts. Repeatable operations are also retried after 500, 502, 503, 504 and lost
 * connections. Methods throw ApiError for a refusal and ConnectionError for no response.
 */
export class Client {
  /** The operations on incidents. */
  readonly incidents: IncidentClient
  readonly #sender: Sender
  /** The last list and the digest of its body. */
  #lastList: { readonly digest: string; readonly list: ServiceList } | undefined

  /** Throws an Error with the text of `clientProblem` when URL or key cannot be used. */
  constructor(options: ClientOptions) {
    const apiKeys = [...new Set([options.apiKey, ...(options.moreApiKeys ?? [])])]
    for (const apiKey of apiKeys) {
      const problem = clientProblem(options.url, apiKey)
      if (problem !== undefined) throw new Error(problem)
    }
    this.#sender = new Sender(options, apiKeys)
    this.incidents = new IncidentClient(this.#sender)
  }

  /**
   * The organisation of the key, and the key's scope. With several keys each is queried; the scope is read_only if one
   * key is. Throws KeysOfDifferentOrgs when they belong to different organisations.
   */
  async getOrg(options: CallOptions = {}): Promise<Org> {
    const orgs = this.#sender.keys.map(async (key) =>
      read(orgSchema, await this.#sender.repeat({ method: 'GET', path: '/v1/org' }, options, key)),
    )
    return agreedOrg(await Promise.all(orgs))
  }

  /** All regions from which services can be monitored. */
  async listRegions(options: CallOptions = {}): Promise<readonly Region[]> {
    return read(
      z.array(regionSchema),
      await this.#sender.repeat({ method: 'GET', path: '/v1/regions' }, options),
    )
  }

  /** All services of the organisation, in one request. The same value as before when the body is the same. */
  async listServices(options: CallOptions = {}): Promise<ServiceList> {
    const response = await this.#sender.repeat({ method: 'GET', path: '/v1/services' }, options)
    const digest = createHash('sha256').update(response.body).digest('base64')
    // A controller lists again and again and mostly gets the same bytes: decoding them is most of an idle cycle.
    if (this.#lastList?.digest !== digest) this.#lastList = { digest, list: servicesIn(response) }
    return this.#lastList.list
  }

  /** One service; refused with `not_found` when the organisation has none of this id. */
  async getService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    return this.#service({ method: 'GET', path: servicePath(id) }, options)
  }

  /**
   * Creates a service; monitoring starts immediately. Sent again only when it certainly was not executed (429, no
   * connection): after a ConnectionError with an unknown outcome, or a 5xx, the service may exist. The `idempotencyKey`
   * lets a server that supports the header recognise the same creation.
   */
  async createService(
    request: ServiceRequest,
    idempotencyKey: string,
    options: CallOptions = {},
  ): Promise<ServiceResponse> {
    const attempt = { method: 'POST', path: '/v1/services', json: request, idempotencyKey } as const
    return read(serviceResponseSchema, await this.#sender.once(attempt, options))
  }

  /** Replaces the whole definition: what `request` leaves out is reset. Contract: Rules, 1. */
  async replaceService(
    id: string,
    request: ServiceRequest,
    options: CallOptions = {},
  ): Promise<ServiceResponse> {
    return this.#service({ method: 'PATCH', path: servicePath(id), json: request }, options)
  }

  /** Deletes a service. Refused with `not_found` when it does not exist any more. */
  async deleteService(id: string, options: CallOptions = {}): Promise<void> {
    readNoContent(await this.#sender.repeat({ method: 'DELETE', path: servicePath(id) }, options))
  }

  /** Pauses a service; the result is the paused service, even if it already was paused. */
  async pauseService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    return this.#service({ method: 'POST', path: `${servicePath(id)}/pause` }, options)
  }

  /** Resumes a service; refused with `forbidden` when the plan no longer allows it. */
  async resumeService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    return this.#service({ method: 'POST', path: `${servicePath(id)}/resume` }, options)
  }

  async #service(request: ClientRequest, options: CallOptions): Promise<ServiceResponse> {
    return read(serviceResponseSchema, await this.#sender.repeat(request, options))
  }

  /** Loads the HTTP library, which takes some milliseconds. Without this call, the first request does it. */
  prepare(): void {
    this.#sender.connections()
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#sender.close()
  }
}

const listSchema = z.array(z.object({ id: z.string() }).loose())

function servicesIn(response: HttpResponse): ServiceList {
  // Not through listSchema at once, which would copy every service.
  const items: readonly unknown[] = Array.isArray(response.json) ? response.json : read(listSchema, response)
  const services: ServiceResponse[] = []
  const problems = new Map<number, string>()
  for (const [index, item] of items.entries()) {
    const parsed = serviceResponseSchema.safeParse(item)
    if (parsed.success) services.push(parsed.data)
    else problems.set(index, firstProblem(parsed.error, item))
  }
  if (problems.size === 0) return { services, unreadable: [] }
  const unreadable = read(listSchema, response).flatMap(({ id }, index): readonly UnreadableService[] => {
    const problem = problems.get(index)
    return problem === undefined ? [] : [{ id, problem }]
  })
  return { services, unreadable }
}

function servicePath(id: string): string {
  return `/v1/services/${encodeURIComponent(id)}`
}
