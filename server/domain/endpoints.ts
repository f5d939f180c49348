import type {
  CallOutput,
  EndpointInput,
  EndpointOutput,
  SensitiveInput,
  SensitiveOutput,
} from '../../api/contract/service.ts'
import type { SealedValue, SealPlace } from './seal.ts'

/** Dependencies for creating endpoints: ids, sealing, and the address rules. */
export interface EndpointDeps {
  readonly uuid: () => string
  readonly seal: (value: string, place: SealPlace) => SealedValue
  /** Whether the address rules forbid checks of `url`. Gap G2. */
  readonly isBlocked: (url: string) => boolean
}

/** Endpoints as in the API, and the secrets that the API omits. */
export interface MadeEndpoints {
  readonly endpoints: readonly EndpointOutput[]
  readonly sealed: readonly SealedValue[]
}

/**
 * The endpoints of `inputs`. An endpoint with the url, method and name of one in `previous` keeps that id and therefore
 * the history; the first match wins (Gap G23).
 */
export function makeEndpoints(
  inputs: readonly EndpointInput[],
  previous: readonly EndpointOutput[],
  owner: Pick<SealPlace, 'orgId' | 'serviceId'>,
  deps: EndpointDeps,
): MadeEndpoints {
  const unclaimed = [...previous]
  const sealed: SealedValue[] = []
  const endpoints = inputs.map((input): EndpointOutput => {
    const same = unclaimed.findIndex((endpoint) => isSameEndpoint(endpoint, input))
    const id = same === -1 ? deps.uuid() : (unclaimed.splice(same, 1)[0]?.id ?? deps.uuid())
    const seal = (slot: string, value: string): SealedValue => {
      const made = deps.seal(value, { ...owner, endpointId: id, slot })
      sealed.push(made)
      return made
    }
    return {
      id,
      url: input.url,
      name: input.name ?? null,
      call: callOutput(input.call, seal),
      assertions: input.assertions,
      blocked: deps.isBlocked(input.url),
    }
  })
  return { endpoints, sealed }
}

function isSameEndpoint(endpoint: EndpointOutput, input: EndpointInput): boolean {
  return (
    endpoint.url === input.url &&
    endpoint.call.Http.method === input.call.Http.method &&
    (endpoint.name ?? null) === (input.name ?? null)
  )
}

type SealSlot = (slot: string, value: string) => SealedValue

function callOutput({ Http }: EndpointInput['call'], seal: SealSlot): CallOutput {
  const show = (slot: string, input: SensitiveInput): SensitiveOutput =>
    input.sensitive === true ? { Sealed: { key_id: seal(slot, input.value).keyId } } : { Plain: input.value }
  return {
    Http: {
      method: Http.method,
      body: Http.body == null ? null : show('body', Http.body),
      headers:
        Http.headers == null
          ? null
          : Object.fromEntries(
              Object.entries(Http.headers).map(([name, input]) => [
                name,
                show(`header:${name.toLowerCase()}`, input),
              ]),
            ),
      max_redirects_to_follow: Http.max_redirects_to_follow ?? null,
      with_dns: Http.with_dns ?? null,
      timeout: Http.timeout,
    },
  }
}
