import { ApiError } from '../../../api/contract/apiError.ts'
import type {
  CallOutput,
  SensitiveOutput,
  ServiceRequest,
  ServiceResponse,
} from '../../../api/contract/service.ts'
import { openValue } from '../../domain/seal.ts'
import { readServiceDefinition } from '../../http/operations/serviceDefinition.ts'
import { jsonProblem } from '../../http/transport/jsonBody.ts'
import type { ConsoleParts } from '../routing/route.ts'

/**
 * The definition of a service as editable JSON: the body of a replacement, with `{"Sealed":{"key_id":…}}` for sealed
 * values. Gap G55. Pure.
 */
export function definitionText({ name, interval_secs, regions, endpoints }: ServiceResponse): string {
  const definition = {
    ...{ name, interval_secs, regions },
    endpoints: endpoints.map(({ url, name: endpointName, call, assertions }) => ({
      ...{ url, name: endpointName ?? null, call: { Http: editableCall(call) }, assertions },
    })),
  }
  return JSON.stringify(definition, null, 2)
}

function editableCall({ Http }: CallOutput) {
  const { headers, body, ...rest } = Http
  const shown = Object.entries(headers ?? {}).map(([name, value]) => [name, editableValue(value)])
  return {
    ...rest,
    headers: headers == null ? null : Object.fromEntries(shown),
    body: body == null ? null : editableValue(body),
  }
}

function editableValue(value: SensitiveOutput) {
  return 'Plain' in value ? { value: value.Plain } : value
}

/**
 * The definition in `text`. A sealed value of `current` keeps its secret only if the URL, method and name of its
 * endpoint stay the same, so that the secret is not sent elsewhere. Rejects with `invalid` and the JSON path. Gap G55.
 */
export async function readDefinition(
  { store, findMasterKey }: Pick<ConsoleParts, 'store' | 'findMasterKey'>,
  text: string,
  current?: ServiceResponse,
): Promise<ServiceRequest> {
  const body = parsed(text)
  if (current !== undefined) {
    const sealed = await store.sealedValues(current.id)
    keepSealed(body, current, (keyId) => {
      const value = sealed.find((one) => one.keyId === keyId)
      return value === undefined ? undefined : openValue(value, findMasterKey(value.masterKeyId))
    })
  }
  return readServiceDefinition({
    body,
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    // A misspelled field must be an error.
    header: (name) => (name === 'prefer' ? 'handling=strict' : undefined),
  })
}

function parsed(text: string): unknown {
  const value = parsedJson(text)
  const problem = jsonProblem(text, value)
  if (problem !== undefined) throw new ApiError('invalid', `the definition ${problem}`)
  return value
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, place = ''] = /( at position \d+| \(line \d+ column \d+\))/.exec(String(error)) ?? []
    throw new ApiError('invalid', `the definition is not JSON${place}`)
  }
}

/** Replaces sealed values in `body` by the secrets of `current`. */
function keepSealed(
  body: unknown,
  current: ServiceResponse,
  open: (keyId: string) => string | undefined,
): void {
  const endpoints: unknown = Object(body).endpoints
  if (!Array.isArray(endpoints)) return
  for (const [index, endpoint] of endpoints.entries()) {
    const { url, name, call } = Object(endpoint)
    const http: Record<string, unknown> = Object(Object(call).Http)
    const same = current.endpoints.find(
      (one) =>
        one.url === url && one.call.Http.method === http.method && (one.name ?? null) === (name ?? null),
    )
    const kept = new Set(same === undefined ? [] : keysOf(same.call))
    const path = `endpoints[${index}].call.Http`
    const replaced = (value: unknown, where: string): unknown => {
      const keyId: unknown = Object(Object(value).Sealed).key_id
      if (typeof keyId !== 'string') return value
      const secret = kept.has(keyId) ? open(keyId) : undefined
      if (secret !== undefined) return { value: secret, sensitive: true }
      const why = 'a sealed value stays with the URL, method and name of its endpoint: enter it again'
      throw new ApiError('invalid', `${where}: ${why}`)
    }
    const headers = http.headers
    if (http.body !== undefined) http.body = replaced(http.body, `${path}.body`)
    if (typeof headers !== 'object' || headers === null) continue
    for (const [header, value] of Object.entries(headers)) {
      Reflect.set(headers, header, replaced(value, `${path}.headers`))
    }
  }
}

function keysOf({ Http: { headers, body } }: CallOutput): readonly string[] {
  const values = [...Object.values(headers ?? {}), ...(body == null ? [] : [body])]
  return values.flatMap((value) => ('Sealed' in value ? [value.Sealed.key_id] : []))
}
