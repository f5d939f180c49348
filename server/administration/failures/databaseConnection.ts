/** Fields that Node and PostgreSQL add to the error of a connection. */
interface ConnectionFailure extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** Whether `error` is why PostgreSQL could not be connected to. Pure. */
export function isOfConnection(error: unknown): error is ConnectionFailure {
  return error instanceof Error && 'isOfConnection' in error
}

/** Why PostgreSQL could not be connected to, with a remedy where one is known. Pure. */
export function connectionText(error: ConnectionFailure): string {
  const { code = '', syscall, message } = error
  if ('severity' in error) {
    // Of pg_hba.conf.
    const isClear = message.endsWith('no encryption')
    return `the database refuses: ${message}${isClear ? ': add "?sslmode=verify-full" to its URL, if it needs TLS' : ''}`
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of the database is not for its host: use a name of the certificate in the URL`
  }
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    return `the certificate of the database is not trusted (${message}): name its authority with "sslrootcert=FILE" in the URL`
  }
  if (syscall === 'connect') {
    const place = error.port === undefined ? error.address : `${error.address}:${error.port}`
    return `the database at ${place} cannot be reached: ${message}`
  }
  if (syscall === 'getaddrinfo') {
    return `the database cannot be reached: its host ${error.hostname} has no address`
  }
  return `the database cannot be reached: ${message}`
}
