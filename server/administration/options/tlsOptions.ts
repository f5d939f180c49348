import type { Command } from 'commander'
import { readCertificate, type TlsFiles } from '../../process/certificateFiles.ts'
import { setting } from './configuration.ts'
import { readGiven } from './readGiven.ts'

/** Options of `serve` for TLS. */
export interface TlsOptions {
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly adminTls: 'on' | 'off'
}

/** Adds the flags of TlsOptions to `command`. */
export function addTlsFlags(command: Command): Command {
  return command
    .addOption(
      setting('--tls-cert <file>', 'certificate chain of all listeners but the admin port (PEM)').argParser(
        readGiven,
      ),
    )
    .addOption(setting('--tls-key <file>', 'private key of that certificate (PEM)').argParser(readGiven))
    .addOption(
      setting('--admin-tls <on|off>', 'whether the admin port uses that certificate too')
        .choices(['on', 'off'])
        .default('off'),
    )
}

/**
 * The certificate of all listeners; `undefined` for none. Throws as `tlsFilesOf`, and when the admin port must use it
 * without a certificate.
 */
export function sharedTlsOf({ tlsCert, tlsKey, adminTls }: TlsOptions): TlsFiles | undefined {
  const files = tlsFilesOf(tlsCert, tlsKey, ['--tls-cert', '--tls-key'])
  if (files === undefined && adminTls === 'on')
    throw new Error('--admin-tls on needs --tls-cert and --tls-key')
  return files
}

/**
 * The files of two flags; `undefined` for none. Throws when one flag is missing, or the files are not a certificate and
 * its key.
 */
export function tlsFilesOf(
  cert: string | undefined,
  key: string | undefined,
  flags: readonly [cert: string, key: string],
): TlsFiles | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new Error(`${flags[0]} and ${flags[1]} belong together: give both, or none`)
  }
  const files = { certFile: cert, keyFile: key }
  readCertificate(files)
  return files
}
