import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A private key and the certificates that a server sends with it (PEM). */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
  /** Highest TLS version of the server; absent for Node's default. */
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** Protocols of the server over TLS; HTTP/1.1 when absent. */
  readonly ALPNProtocols?: string[]
  /** As in OpenSSL, which would not send a weak certificate either; Node's default when absent. */
  readonly ciphers?: string
}

/** A CA for tests, and the certificates that it signed. */
export interface TestAuthority {
  /** CA certificates for the client to trust (PEM). */
  readonly authorities: string
  readonly valid: ServerCertificate
  readonly expired: ServerCertificate
  readonly early: ServerCertificate
  readonly otherName: ServerCertificate
  readonly selfSigned: ServerCertificate
  /** Signed by an intermediate CA whose certificate is not sent. */
  readonly incomplete: ServerCertificate
  /** Expired, and sent with the certificate of its intermediate CA, which ends in month 99. */
  readonly undated: ServerCertificate
  /** Self-signed, with neither a subject nor an issuer. */
  readonly nameless: ServerCertificate
  /** Signed with SHA-1. */
  readonly weak: ServerCertificate
}

const CONFIG = `[ca]
default_ca = tests
[tests]
new_certs_dir = .
database = index.txt
rand_serial = yes
default_md = sha256
policy = anything
copy_extensions = copy
unique_subject = no
[anything]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
keyUsage = keyCertSign
[req]
distinguished_name = name
[name]
`
const PAST = ['20200101000000Z', '20210101000000Z'] as const
const FUTURE = ['20900101000000Z', '20910101000000Z'] as const
const NOW = ['20200101000000Z', '20910101000000Z'] as const

let authority: TestAuthority | undefined

/**
 * A CA and its certificates for `localhost` and 127.0.0.1: one for all tests of a process, because each takes 16
 * processes.
 */
export function testAuthority(): TestAuthority {
  authority ??= makeAuthority()
  return authority
}

function makeAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-certificates-'))
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  }
  const text = (file: string): string => readFileSync(join(folder, file), 'utf8')
  writeFileSync(join(folder, 'ca.cnf'), CONFIG)
  writeFileSync(join(folder, 'index.txt'), '')
  const newKey = (name: string): readonly string[] => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    `${name}.key`,
  ]
  const request = (name: string, commonName: string, alternatives = ''): void => {
    const names = alternatives === '' ? [] : ['-addext', `subjectAltName=${alternatives}`]
    openssl(
      'req',
      '-config',
      'ca.cnf',
      '-new',
      ...newKey(name),
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${commonName}`,
      ...names,
    )
  }
  const sign = (
    name: string,
    by: string,
    [start, end]: readonly [string, string],
    ...more: string[]
  ): void => {
    const period = ['-startdate', start, '-enddate', end]
    const signer =
      by === name ? ['-selfsign', '-keyfile', `${by}.key`] : ['-cert', `${by}.pem`, '-keyfile', `${by}.key`]
    const output = ['-out', `${name}.pem`, '-notext', '-batch']
    openssl('ca', '-config', 'ca.cnf', ...signer, '-in', `${name}.csr`, ...output, ...period, ...more)
  }
  const served = (name: string): ServerCertificate => ({
    key: text(`${name}.key`),
    cert: text(`${name}.pem`),
  })
  const OWN_NAMES = 'DNS:localhost,DNS:shop.example,IP:127.0.0.1'
  const signed = (
    name: string,
    by: string,
    period: readonly [string, string],
    names = OWN_NAMES,
    ...more: string[]
  ): ServerCertificate => {
    request(name, 'leaf', names)
    sign(name, by, period, ...more)
    return served(name)
  }
  try {
    request('root', 'Test Root')
    sign('root', 'root', NOW, '-extensions', 'authority')
    openssl('req', '-config', 'ca.cnf', '-x509', ...newKey('nameless'), '-out', 'nameless.pem', '-subj', '/')
    request('middle', 'Test Intermediate')
    sign('middle', 'root', NOW, '-extensions', 'authority')
    return {
      authorities: text('root.pem'),
      valid: signed('valid', 'root', NOW),
      expired: signed('expired', 'root', PAST),
      early: signed('early', 'root', FUTURE),
      otherName: signed('other', 'root', NOW, 'DNS:other.example'),
      selfSigned: signed('self', 'self', NOW),
      incomplete: signed('incomplete', 'middle', NOW),
      undated: withChain(signed('undated', 'middle', PAST), inMonth99(text('middle.pem'))),
      nameless: served('nameless'),
      weak: {
        ...signed('weak', 'root', NOW, OWN_NAMES, '-md', 'sha1'),
        ciphers: 'DEFAULT:@SECLEVEL=0',
      },
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function withChain({ key, cert }: ServerCertificate, chain: string): ServerCertificate {
  return { key, cert: `${cert}${chain}` }
}

/** The certificate `pem`, which ends in NOW, with an end in a month that does not exist. */
function inMonth99(pem: string): string {
  const bytes = Buffer.from(pem.replaceAll(/-----.*-----/g, ''), 'base64')
  const end = bytes.indexOf(NOW[1])
  bytes.write('99', end + 'YYYY'.length, 'latin1')
  return `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`
}
