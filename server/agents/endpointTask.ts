import type { CallOutput, EndpointOutput, SensitiveOutput } from '../../api/contract/service.ts'
import type { CallValue, EndpointTask } from '../../monitoring/protocol/messages.ts'

/** Default timeout of a call (milliseconds). Contract: Gap G14. */
const TIMEOUT_MS = 10_000
/** Default number of redirects of a call. Contract: Gap G18. */
const REDIRECTS = 10

/** The value of a slot of the endpoint: `body`, or `header:` with the name in lower case. */
export type OpenSecret = (endpointId: string, slot: string) => CallValue

/** Timeout of a check of `call` (milliseconds). Pure. */
export function timeoutMsOf({ Http: { timeout } }: CallOutput): number {
  return timeout === null ? TIMEOUT_MS : timeout.secs * 1_000 + timeout.nanos / 1_000_000
}

/** An endpoint in the agent protocol. Throws the errors of `open`. */
export function endpointTask(endpoint: EndpointOutput, series: number, open: OpenSecret): EndpointTask {
  const { id, url, blocked, assertions, call } = endpoint
  const { Http } = call
  const value = (slot: string, shown: SensitiveOutput): CallValue =>
    'Plain' in shown ? { plain: shown.Plain } : open(id, slot)
  return {
    ...{ id, series, url, blocked, assertions },
    call: {
      method: Http.method,
      timeout_ms: timeoutMsOf(call),
      redirects: Http.max_redirects_to_follow ?? REDIRECTS,
      with_dns: Http.with_dns === true,
      headers: Object.entries(Http.headers ?? {}).map(([name, shown]) => [
        name,
        value(`header:${name.toLowerCase()}`, shown),
      ]),
      body: Http.body == null ? null : value('body', Http.body),
    },
  }
}
