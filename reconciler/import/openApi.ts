import { type ImportedEndpoint, type ImportedService, urlOf } from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const INTERVAL_S = 60
/** Maximum of endpoints in one service; a large API is split into several services. */
const ENDPOINTS_MAX = 20

/** A service with an endpoint for each GET of an OpenAPI document that needs no parameters. */
export function fromOpenApi(documents: readonly SourceValue[]): readonly ImportedService[] {
  return documents.flatMap((document) => {
    const title = document.get('info').get('title').text() ?? 'API'
    const root = addressOf(document)
    if (root === undefined) return []
    const endpoints = document
      .get('paths')
      .entries()
      .flatMap(([path, item]) => endpointOf(root, path, item) ?? [])
    const parts = Math.ceil(endpoints.length / ENDPOINTS_MAX)
    return Array.from({ length: parts }, (_, part) => ({
      name: parts === 1 ? title : `${title} ${part + 1}`,
      intervalS: INTERVAL_S,
      place: document,
      isPaused: false,
      labels: {},
      endpoints: endpoints.slice(part * ENDPOINTS_MAX, (part + 1) * ENDPOINTS_MAX),
    }))
  })
}

/** The first address of an API; `undefined`, with a note, when it has none. */
function addressOf(document: SourceValue): string | undefined {
  const host = document.get('host')
  // OpenAPI 2 has the parts of the address in separate fields.
  if (document.get('swagger').isThere && host.isThere) {
    const schemes = document
      .get('schemes')
      .items()
      .map((scheme) => scheme.text())
    const scheme = schemes.length > 0 && !schemes.includes('https') ? 'http' : 'https'
    return urlOf(host, `${scheme}://${host.text()}${document.get('basePath').text() ?? ''}`)
  }
  const [server] = document.get('servers').items()
  if (server === undefined) {
    document.note('left out: the document has no servers, and so no address')
    return undefined
  }
  const url = server.get('url')
  const variables = server.get('variables')
  const text = url
    .text()
    ?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => variables.get(name).get('default').text() ?? whole)
  if (text?.includes('{') !== true) return urlOf(url, text)
  url.note('left out: the address has a variable without a default')
  return undefined
}

function endpointOf(root: string, path: string, item: SourceValue): ImportedEndpoint | undefined {
  const get = item.get('get')
  if (!get.isThere) return undefined
  const parameters = [...item.get('parameters').items(), ...get.get('parameters').items()]
  const needed = parameters.find((one) => one.get('required').flag() === true || one.get('$ref').isThere)
  if (path.includes('{') || needed !== undefined) {
    get.note(`left out: GET ${path} needs parameters`)
    return undefined
  }
  if (
    get
      .get('security')
      .items()
      .some((one) => one.entries().length > 0)
  ) {
    get.note(`GET ${path} needs a credential: add the header to the manifest as { env: NAME }`)
  }
  return {
    url: `${root.replace(/\/$/, '')}${path}`,
    name: get.get('operationId').text() ?? `GET ${path}`,
    assertions: [{ status: '2xx' }],
  }
}
