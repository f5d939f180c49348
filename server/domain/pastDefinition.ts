import type { SensitiveOutput, ServiceResponse } from '../../api/contract/service.ts'

/**
 * The definition in `response` as JSON, for the history of its service. All values are omitted, sealed or not: a plain
 * one may be a secret that its author seals a minute later, and the history would keep it. Pure. Gap G48.
 */
export function pastDefinition({
  name,
  interval_secs,
  regions,
  endpoints,
}: Pick<ServiceResponse, 'name' | 'interval_secs' | 'regions' | 'endpoints'>): string {
  const shown = endpoints.map(({ url, call, ...endpoint }) => {
    const { headers, body, ...http } = call.Http
    const values = Object.entries(headers ?? {}).map(([header, value]) => [header, withoutValue(value)])
    return {
      ...endpoint,
      url: url.replace(/[?#].*$/s, '?…'),
      call: {
        Http: {
          ...http,
          headers: headers == null ? null : Object.fromEntries(values),
          body: body == null ? null : withoutValue(body),
        },
      },
    }
  })
  return JSON.stringify({ name, interval_secs, regions, endpoints: shown })
}

/** Keeps the `key_id` of a sealed value, which changes with each write of the value. Gap G22. */
function withoutValue(value: SensitiveOutput): SensitiveOutput | { readonly Plain: null } {
  return 'Sealed' in value ? { Sealed: { key_id: value.Sealed.key_id } } : { Plain: null }
}
