import type { ServiceResponse } from '../../api/contract/service.ts'
import { toState } from '../service/read/toState.ts'
import { type HclValue, hclArguments, hclString } from './hcl.ts'
import { freeLabel } from './labels.ts'

const SECRETS = 'sealed_values'

/**
 * Configuration that adopts `services` unchanged: an import block and a resource for each. Sealed values cannot be read, so each
 * refers to an entry of an ephemeral variable. Pure.
 */
export function estateConfiguration(services: readonly ServiceResponse[], requirement: string): string {
  const taken = new Set<string>()
  const places: string[] = []
  const blocks = services.map((service) =>
    serviceBlocks(service, freeLabel(service.name, 'service', taken), places),
  )
  return [requirement, ...(places.length === 0 ? [] : [secretsVariable(places)]), ...blocks].join('\n')
}

function secretsVariable(places: readonly string[]): string {
  return `# The API does not show sealed values. Give them as entries of this variable; they are sent with the next change.
${places.map((place) => `#   ${place}`).join('\n')}
variable "${SECRETS}" {
  type      = map(string)
  ephemeral = true
}
`
}

function serviceBlocks(service: ServiceResponse, label: string, places: string[]): string {
  const state = toState(service, undefined)
  const endpoints = (state.endpoints ?? []).map((endpoint, index) => ({
    ...endpoint,
    http: withReferences(endpoint.http ?? {}, `${label}.${index}`, places),
  }))
  const entries: readonly (readonly [string, HclValue])[] = [
    ['name', state.name],
    ['interval', state.interval],
    ['regions', service.regions],
    ['paused', service.paused_at == null ? null : true],
    // True because the state of an endpoint consists of texts, numbers, booleans, lists, maps and objects.
    ['endpoints', endpoints as HclValue],
  ]
  return `import {
  to = pharos_service.${label}
  id = ${hclString(service.id)}
}

resource "pharos_service" "${label}" {
${hclArguments(
  entries.filter(([, value]) => value !== null),
  2,
)}
}
`
}

type Http = NonNullable<NonNullable<ReturnType<typeof toState>['endpoints']>[number]['http']>
type Value = NonNullable<Http['body']>

/** `http` with references in place of sealed values. */
function withReferences(http: Http, at: string, places: string[]): object {
  const known = (value: Value, place: string): object => {
    if (value.value !== null) return { value: value.value }
    places.push(place)
    return { value_wo: { expression: `var.${SECRETS}[${hclString(place)}]` } }
  }
  const { headers, body } = http
  return {
    ...http,
    body: body == null ? null : known(body, `${at}.body`),
    headers:
      headers instanceof Map
        ? new Map([...headers].map(([name, header]) => [name, known(header, `${at}.headers.${name}`)]))
        : null,
  }
}
