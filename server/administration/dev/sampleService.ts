const NAME = 'Sample'
/** Interval of its checks, short enough to watch an outage (seconds). */
export const SAMPLE_INTERVAL_S = 5

/** The API of the running server, and a read_write key. */
export interface SampleApi {
  readonly url: string
  readonly apiKey: string
}

/** Points the sample service at `targetUrl`, and creates it if there is none. Resolves to its id. */
export async function putSampleService(api: SampleApi, targetUrl: string): Promise<string> {
  const definition = {
    name: NAME,
    interval_secs: SAMPLE_INTERVAL_S,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: `${targetUrl}/`,
        call: { Http: { method: 'GET', timeout: null } },
        assertions: [],
      },
    ],
  }
  // True because the responses are the server's own.
  const services = (await call(api, 'GET', '/v1/services')) as { id: string; name: string }[]
  const existing = services.find(({ name }) => name === NAME)
  const [method, path] =
    existing === undefined ? ['POST', '/v1/services'] : ['PATCH', `/v1/services/${existing.id}`]
  return ((await call(api, method, path, definition)) as { id: string }).id
}

async function call(
  { url, apiKey }: SampleApi,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`the sample service could not be set up: ${text}`)
  return JSON.parse(text)
}
