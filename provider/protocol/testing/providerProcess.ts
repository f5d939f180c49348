/** Starts a provider as Terraform does: environment, handshake, AutoMTLS, and Shutdown at the end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { credentials } from '@grpc/grpc-js'
import { createCertificate, type OneShotCertificate, toPem } from '../plugin/certificate.ts'
import { MAGIC_COOKIE } from '../plugin/environment.ts'
import { connect, METHODS, type ProviderClient } from './providerClient.ts'

export interface StartOptions {
  /** Program and arguments, such as `['/path/terraform-provider-x']`. */
  readonly command: readonly string[]
  /** Further environment variables; `undefined` removes one. */
  readonly environment?: { readonly [name: string]: string | undefined }
  /** The client certificate in PLUGIN_CLIENT_CERT; null for a connection without TLS. */
  readonly announced?: OneShotCertificate | null
}

/** A running provider. */
export interface ProviderProcess {
  /** The six fields of the handshake line. */
  readonly handshake: readonly string[]
  readonly client: ProviderClient
  readonly process: ChildProcess
  /** The output so far: stdout after the handshake line, and stderr. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Opens a further connection with another certificate, or with none if null. */
  connectWith(own: OneShotCertificate | null): ProviderClient
  /** Resolves with the exit code, or the name of the signal that ended the process. */
  readonly exited: Promise<number | string>
  /** Calls Shutdown, and resolves when the provider has ended. */
  shutDown(): Promise<number | string>
}

function targetOf(handshake: readonly string[]): string {
  const [, , network, address = ''] = handshake
  return network === 'unix' ? `unix:${address}` : address
}

/** The credentials of the connection. Only the certificate in the handshake is trusted. */
function securityFor(handshake: readonly string[], own: OneShotCertificate | null) {
  const [, , , , , field = ''] = handshake
  if (field === '') return credentials.createInsecure()
  const trusted = Buffer.from(toPem(Buffer.from(field, 'base64')))
  if (own === null) return credentials.createSsl(trusted)
  return credentials.createSsl(trusted, Buffer.from(own.privateKeyPem), Buffer.from(own.certificatePem))
}

/** Starts the provider and connects to it. Rejects with the provider's stderr when it ends without a handshake. */
export async function startProvider(options: StartOptions): Promise<ProviderProcess> {
  const announced = options.announced === undefined ? createCertificate(Date.now()) : options.announced
  const [program = '', ...args] = options.command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      [MAGIC_COOKIE.name]: MAGIC_COOKIE.value,
      PLUGIN_PROTOCOL_VERSIONS: '5,6',
      ...(announced === null ? {} : { PLUGIN_CLIENT_CERT: announced.certificatePem }),
      ...options.environment,
    },
  })
  const printed = { stdout: '', stderr: '' }
  child.stderr.on('data', (text) => {
    printed.stderr += text
  })
  const exited = once(child, 'exit').then(([code, signal]): number | string => code ?? signal)
  const lines = createInterface(child.stdout)
  const first = await Promise.race([once(lines, 'line').then(([line]) => String(line)), exited])
  if (typeof first === 'number') throw new Error(`the provider ended with ${first}: ${printed.stderr}`)
  lines.on('line', (line) => {
    printed.stdout += `${line}\n`
  })
  const handshake = first.split('|')
  const connectWith = (own: OneShotCertificate | null): ProviderClient =>
    connect(targetOf(handshake), securityFor(handshake, own))
  const client = connectWith(announced)
  return {
    handshake,
    client,
    process: child,
    output: () => printed,
    connectWith,
    exited,
    shutDown: async () => {
      await client.call(METHODS.Shutdown, {})
      const result = await exited
      client.close()
      return result
    },
  }
}
