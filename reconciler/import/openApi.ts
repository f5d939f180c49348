import { endpointUrlProblem } from '../../api/contract/endpointUrl.ts'
import { NAME_CHARS_MAX } from '../../api/contract/service.ts'
import { type ImportedEndpoint, type ImportedService, urlOf } from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const INTERVAL_S = 60
/** Maximum of endpoints in one service; a large API is split into several services. */
const ENDPOINTS_MAX = 20
/** Maximum of references to references: a document may have a circle of them. */
const REFERENCES_MAX = 20

/** A service with an endpoint for each GET of an OpenAPI document that needs no parameters. */
export function fromOpenApi(documents: readonly SourceValue[]): readonly ImportedService[] {
  return documents.flatMap((document) => {
    const title = document.get('info').get('title').text() ?? 'API'
    const endpoints = endpointsOf(document)
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

/** A GET operation, and the item of its path. */
interface Operation {
  readonly path: string
  readonly item: SourceValue
  readonly get: SourceValue
}

function endpointsOf(document: SourceValue): readonly ImportedEndpoint[] {
  const operations = document
    .get('paths')
    .entries()
    .flatMap(([path, value]) => operationOf(document, path, value) ?? [])
    .filter((operation) => needsNoParameters(document, operation))
  const servers = operations.map(serverOf)
  // The address of the document may be missing where each operation has its own.
  const hasOwn = servers.length > 0 && !servers.includes(undefined)
  const usual = hasOwn ? undefined : addressOf(document)
  const endpoints = operations.flatMap((operation, index) => {
    const own = servers[index]
    const root = own === undefined ? usual : serverAddress(own)
    return root === undefined ? [] : (endpointOf(root, operation) ?? [])
  })
  noteCredentials(document, operations)
  return endpoints
}

function operationOf(document: SourceValue, path: string, value: SourceValue): Operation | undefined {
  const item = resolved(document, value)
  if (item === undefined) {
    value.note(`${path} is left out: it refers to something that this file does not have`)
    return undefined
  }
  const get = item.get('get')
  return get.isThere ? { path, item, get } : undefined
}

/** `value`, or what it refers to within its document; `undefined` when that is elsewhere. */
function resolved(document: SourceValue, value: SourceValue): SourceValue | undefined {
  let found = value
  for (let count = 0; count < REFERENCES_MAX; count += 1) {
    const reference = found.get('$ref').text()
    if (reference === undefined) return found.isThere ? found : undefined
    if (!reference.startsWith('#/')) return undefined
    found = reference
      .slice(2)
      .split('/')
      .reduce((at, step) => at.get(step.replaceAll('~1', '/').replaceAll('~0', '~')), document)
  }
  return undefined
}

function needsNoParameters(document: SourceValue, { path, item, get }: Operation): boolean {
  const parameters = [...item.get('parameters').items(), ...get.get('parameters').items()]
  if (!path.includes('{') && !parameters.some((one) => isRequired(document, one))) return true
  get.note(`GET ${path} is left out: it needs parameters`)
  return false
}

/** One that cannot be found may be required. */
function isRequired(document: SourceValue, parameter: SourceValue): boolean {
  const found = resolved(document, parameter)
  return found === undefined || found.get('required').flag() === true
}

/** The first server of an operation, or of its path. */
function serverOf({ item, get }: Operation): SourceValue | undefined {
  return [...get.get('servers').items(), ...item.get('servers').items()][0]
}

/** The first address of an API; `undefined`, with a note, when it has none. */
function addressOf(document: SourceValue): string | undefined {
  const host = document.get('host')
  // OpenAPI 2 has the parts of the address in separate fields.
  if (document.get('swagger').isThere && host.isThere) {
    const schemes = document.get('schemes').texts()
    const scheme = schemes.length > 0 && !schemes.includes('https') ? 'http' : 'https'
    return urlOf('the API', host, `${scheme}://${host.text()}${document.get('basePath').text() ?? ''}`)
  }
  const [server] = document.get('servers').items()
  if (server !== undefined) return serverAddress(server)
  document.note('left out: the document has no servers, so its address is unknown: add them')
  return undefined
}

function serverAddress(server: SourceValue): string | undefined {
  const url = server.get('url')
  const variables = server.get('variables')
  const text = url
    .text()
    ?.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => variables.get(name).get('default').text() ?? whole)
  if (text?.includes('{') !== true) return urlOf('the API', url, text)
  url.note('left out: the address has a variable without a default')
  return undefined
}

function endpointOf(root: string, { path, get }: Operation): ImportedEndpoint | undefined {
  const url = `${root.replace(/\/$/, '')}${path}`
  const problem = endpointUrlProblem(url)
  if (problem !== undefined) {
    get.note(`GET ${path} is left out: its URL ${problem}`)
    return undefined
  }
  const name = get.get('operationId').text() ?? `GET ${path}`
  return { url, name: name.slice(0, NAME_CHARS_MAX), assertions: [{ status: '2xx' }] }
}

/** Notes operations that need a credential, by themselves or as all of the document do. */
function noteCredentials(document: SourceValue, operations: readonly Operation[]): void {
  const usual = document.get('security')
  const hint = 'add the header to the manifest as { env: NAME }'
  if (needsCredential(usual) && operations.some(({ get }) => !get.get('security').isThere)) {
    usual.note(`operations without "security" of their own need a credential: ${hint}`)
  }
  for (const { path, get } of operations) {
    if (needsCredential(get.get('security'))) get.note(`GET ${path} needs a credential: ${hint}`)
  }
}

/** An empty requirement makes credentials optional. */
function needsCredential(security: SourceValue): boolean {
  const requirements = security.items()
  return requirements.length > 0 && requirements.every((one) => one.entries().length > 0)
}
