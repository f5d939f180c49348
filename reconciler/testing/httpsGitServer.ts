import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/**
 * What a server does with the next requests: respond to them, with a web page, send them elsewhere, or stop in the
 * middle of a pack.
 */
export type HttpsBehaviour =
  | 'respond'
  | { readonly redirectTo: string }
  | { readonly page: string }
  | 'stop-in-pack'
  | 'tell-credential'

/** A server that repositories are fetched from and pushed to over https, by the git program that real ones run. */
export interface HttpsGitServer {
  /** Address of the repository `name` below the root. */
  readonly urlOf: (name: string) => string
  /** The certificate that clients of this server have to trust. */
  readonly caFile: string
  behaviour: HttpsBehaviour
  /** `Authorization` headers that came, in order; null for a request without. */
  readonly logins: readonly (string | null)[]
  /** Resolves when the next pack was sent half and is held. */
  readonly held: () => Promise<void>
  /** A certificate of its own authority that is valid for so many days from now. */
  readonly issue: (days: number) => Certificate
  /** Shows another certificate from the next connection on. */
  readonly show: (certificate: Certificate) => void
  readonly close: () => Promise<void>
}

/** A certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** What a server is made of. */
export interface HttpsGitServerOptions {
  /** Folder whose repositories are served; files of the server are made in it as well. */
  readonly root: string
  /** User and password that it asks for; absent for none. */
  readonly login?: { readonly username: string; readonly password: string }
}

/** A certificate authority whose files are in one folder. */
interface Authority {
  readonly caFile: string
  readonly issue: (days: number) => Certificate
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', [...args], { stdio: 'pipe' })
}

/** An authority of our own, made in `folder`, and certificates for 127.0.0.1 signed by it. */
export function authority(folder: string): Authority {
  const [key, certificate] = [join(folder, 'ca.key'), join(folder, 'ca.crt')]
  openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=authority', '-keyout', key, '-out', certificate)
  return authorityIn(folder)
}

/** The authority whose files are in `folder`. */
function authorityIn(folder: string): Authority {
  const at = (name: string): string => join(folder, name)
  return {
    caFile: at('ca.crt'),
    issue: (days) => {
      writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1')
      openssl('req', '-new', ...NEW_KEY, '-subj', '/CN=git', '-keyout', at('git.key'), '-out', at('git.csr'))
      const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-days', String(days)]
      openssl('x509', '-req', '-in', at('git.csr'), ...signed, '-extfile', at('names'), '-out', at('git.crt'))
      return { cert: readFileSync(at('git.crt'), 'utf8'), key: readFileSync(at('git.key'), 'utf8') }
    },
  }
}

interface KnownAuthority {
  readonly files: ReadonlyMap<string, Buffer>
  readonly certificate: Certificate
}

/** Keys take processes to make, and every server of this process may have the same ones. */
let known: KnownAuthority | undefined

/** An authority in `folder`, and a certificate of it that is valid for two days. */
function certified(folder: string): Authority & { readonly certificate: Certificate } {
  if (known === undefined) {
    const made = authority(folder)
    const certificate = made.issue(2)
    const files = ['ca.key', 'ca.crt'].map((name) => [name, readFileSync(join(folder, name))] as const)
    known = { files: new Map(files), certificate }
    return { ...made, certificate }
  }
  for (const [name, content] of known.files) writeFileSync(join(folder, name), content)
  return { ...authorityIn(folder), certificate: known.certificate }
}

/** Starts a server on the loopback. */
export async function httpsGitServer({ root, login }: HttpsGitServerOptions): Promise<HttpsGitServer> {
  const { caFile, issue, certificate } = certified(root)
  const logins: (string | null)[] = []
  let tellHeld = (): void => {}
  const server = createServer(certificate, (request, response) => {
    const { authorization = null } = request.headers
    logins.push(authorization)
    const { behaviour } = self
    if (typeof behaviour === 'object' && 'page' in behaviour) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(behaviour.page)
    } else if (typeof behaviour === 'object') {
      response.writeHead(302, { location: `${behaviour.redirectTo}${request.url}` }).end()
    } else if (behaviour === 'tell-credential') {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`who sends ${authorization}?\n`)
    } else if (login !== undefined && authorization !== headerOf(login)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    } else {
      const isPack = request.url?.endsWith('/git-upload-pack') === true
      serve(root, request, response, behaviour === 'stop-in-pack' && isPack ? () => tellHeld() : null)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  const self: HttpsGitServer = {
    urlOf: (name) => `https://127.0.0.1:${port}/${name}`,
    caFile,
    issue,
    behaviour: 'respond',
    logins,
    held: () =>
      new Promise((resolve) => {
        tellHeld = resolve
      }),
    show: (certificate) => server.setSecureContext(certificate),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return self
}

function headerOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/**
 * Serves one request with `git http-backend`, as CGI has it. With `onHalf` a pack ends in its middle, and the
 * connection stays open: nothing more ever comes.
 */
function serve(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  onHalf: (() => void) | null,
): void {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const child = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('close', () => {
    const { status, headers, body } = cgiResponse(Buffer.concat(chunks))
    response.writeHead(status, headers)
    const start = body.indexOf('PACK')
    if (onHalf === null || start < 0) response.end(body)
    else response.write(body.subarray(0, start + (body.length - start) / 2), onHalf)
  })
}

function cgiResponse(output: Buffer): {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
} {
  const end = output.indexOf('\r\n\r\n')
  const lines = output.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const { Status: status = '200', ...rest } = headers
  return { status: Number.parseInt(status, 10), headers: rest, body: output.subarray(end + 4) }
}
