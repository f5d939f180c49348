import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import type { Certificate, CertificateSource } from '../http/transport/certificate.ts'

/** Interval between checks for changed files (milliseconds). */
const POLL_MS = 1_000

/** Files of a certificate chain and of its private key (PEM). */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** The certificate and key in `files`. Throws when one cannot be read, and when they do not match. */
export function readCertificate({ certFile, keyFile }: TlsFiles): Certificate {
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  try {
    createSecureContext(tls)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${certFile} and ${keyFile} are not a certificate and its key (${reason})`)
  }
  return tls
}

/**
 * The certificate in `files`, reloaded when they change. When new files are missing or do not match, the error is
 * logged and the previous certificate stays. Throws as `readCertificate`.
 */
export function openCertificate(
  files: TlsFiles,
  log: Logger,
): CertificateSource & { readonly stop: () => void } {
  const listeners: ((certificate: Certificate) => void)[] = []
  let current = readCertificate(files)
  let adopted = versionOf(files)
  /** Version that could not be used. It is logged at the second check: two files are not replaced at the same instant. */
  let broken: { readonly version: string; isLogged: boolean } | undefined

  function poll(): void {
    const version = versionOf(files)
    if (version === adopted || (broken?.version === version && broken.isLogged)) return
    try {
      current = readCertificate(files)
      adopted = version
      broken = undefined
    } catch (error) {
      if (broken?.version === version) {
        broken.isLogged = true
        log.error({ err: error }, 'the new certificate cannot be used: keeping the previous one')
      } else broken = { version, isLogged: false }
      return
    }
    for (const listener of listeners) listener(current)
    const { subject, validTo } = new X509Certificate(current.cert)
    log.info({ certFile: files.certFile, subject, validTo }, 'certificate reloaded')
  }
  const timer = setInterval(poll, POLL_MS)
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  }
}

/** A text that changes when one of the files is written or replaced, also through a symbolic link. */
function versionOf({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile]
    .map((file) => {
      const found = statSync(file, { throwIfNoEntry: false })
      return found === undefined ? 'none' : `${found.ino} ${found.size} ${found.mtimeMs}`
    })
    .join(', ')
}
