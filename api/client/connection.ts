import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { Outgoing } from '../network/outgoing.ts'
import { ProxyError } from '../network/proxyError.ts'

const HTTPS_PORT = 443

/**
 * There was no connection, so certainly nothing was sent. `isFinal` says that retries are useless: the certificate is
 * not trusted, the server does not speak TLS, or a proxy refuses. The message says which, and `hint` is the remedy.
 */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly isFinal: boolean
  readonly hint: string | undefined

  constructor(cause: Error) {
    const isOfProxy = cause instanceof ProxyError
    const code = codeOf(cause)
    super(isOfProxy ? cause.message : (code ?? cause.message), { cause })
    this.hint = isOfProxy ? cause.hint : hintFor(cause, code ?? '')
    this.isFinal = isOfProxy ? cause.isFinal : this.hint !== undefined
  }
}

/** Opens connections like undici, through a proxy where one applies, and marks every failure before a connection is open as such. */
export function connector({ proxy, authorities }: Outgoing): buildConnector.connector {
  const connect = buildConnector(authorities === undefined ? {} : { ca: authorities })
  return (options, callback) => {
    const open = (httpSocket?: Socket): void =>
      connect({ ...options, ...(httpSocket && { httpSocket }) }, (error, socket) => {
        if (error === null) callback(null, socket)
        else callback(new NotConnected(error), null)
      })
    const port = Number(options.port || HTTPS_PORT)
    if (options.protocol !== 'https:' || proxy?.covers(options.hostname, port) !== true) return open()
    // Loaded here because most processes have no proxy.
    import('../network/tunnel.ts')
      .then(({ openTunnel }) => openTunnel(proxy, options.hostname, port))
      .then(open, (error: Error) => callback(new NotConnected(error), null))
  }
}

/** The code of `error` or of what caused it, such as ECONNREFUSED. Pure. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // A host with several addresses fails with one error for each of them.
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== undefined)
  return codeOf(error.cause)
}

/** Codes with which Node and OpenSSL refuse the certificate of the other end. */
const CERTIFICATE =
  /CERT|CRL|SIGNATURE|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNABLE_TO_GET_ISSUER.*)$/

/** Advice for a connection that cannot succeed without a change; `undefined` when a later attempt may succeed. */
function hintFor(error: Error, code: string): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return 'the certificate of the server is not valid today: renew it, or set the clock of this machine'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate of the server is for another name: use that name in the address'
  if (CERTIFICATE.test(code))
    return 'the certificate of the server is not trusted here: if it is the right server, name the file of its authority in PHAROS_CA_FILE'
  // An OpenSSL error: the server responded, but not with TLS.
  if (!('library' in error) && !/^ERR_(?:SSL|TLS)_/.test(code)) return undefined
  return 'the server did not complete a TLS handshake: use http:// instead of https://, or another port'
}
