import { buildConnector } from 'undici'

/**
 * No connection was had, so that certainly nothing was sent. `isFinal` says that trying again is of no use: the
 * certificate is not trusted, or the other end speaks no TLS. The message says which, and `hint` what to do.
 */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly isFinal: boolean
  readonly hint: string | undefined

  constructor(cause: Error) {
    const code = codeOf(cause)
    super(code ?? cause.message, { cause })
    this.hint = hintFor(cause, code ?? '')
    this.isFinal = this.hint !== undefined
  }
}

/** Opens connections as undici does, and says of everything that fails before one is open that it did then. */
export function connector(): buildConnector.connector {
  const connect = buildConnector({})
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket)
      else callback(new NotConnected(error), null)
    })
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
    return 'the certificate of the server is for another name: use the name that it is for in the address'
  if (CERTIFICATE.test(code))
    return 'the certificate of the server is not trusted here: if it is the right server, name the file of its authority in NODE_EXTRA_CA_CERTS'
  // Of OpenSSL itself: the other end answered, and not as TLS wants it.
  if (!('library' in error) && !/^ERR_(?:SSL|TLS)_/.test(code)) return undefined
  return 'no TLS could be agreed on with the server: is it http:// rather than https://, or another port?'
}
