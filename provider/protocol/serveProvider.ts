/** Runs a provider as the process that Terraform starts. */

import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import type { Log } from './authoring/log.ts'
import type { Access } from './plugin/access.ts'
import { type CallTable, createCallTable } from './plugin/callTable.ts'
import { createCertificate } from './plugin/certificate.ts'
import { handshakeLine, type PluginEnvironment, readEnvironment } from './plugin/environment.ts'
import { createLog } from './plugin/log.ts'
import { watchParent } from './plugin/parent.ts'
import type { ServedProvider } from './plugin/providerRpcs.ts'
import { type OpenSocket, openSocket } from './plugin/socket.ts'

const STDOUT = 1
const STDERR = 2
/** Time for the answer to Shutdown to reach Terraform before the process ends regardless (milliseconds). */
const SHUTDOWN_MAX_MS = 100
/** How often it is looked whether Terraform is still there (milliseconds). */
const PARENT_CHECK_MS = 1_000

/** Parts of a provider, each loaded when it is first needed. */
interface ProviderParts {
  /** The provider: `served(defineProvider(…))`. */
  provider(): Promise<ServedProvider>
  /**
   * Its answer to GetProviderSchema as bytes (`encodedSchema`), where that is known without the provider: one of the processes of
   * a command is asked for nothing else.
   */
  schema?(): Promise<Uint8Array>
}

/**
 * Serves a provider to the Terraform or OpenTofu that started this process, and ends the process when asked to. `name` is the
 * provider's type, as in `terraform-provider-<name>`.
 *
 * Terraform starts a provider several times per command and waits for its handshake: import what is large, which
 * includes `served`, inside of `parts`. They are loaded after the handshake, while Terraform connects.
 *
 * Started by a person it explains itself on stderr and exits with 1. stdout carries the handshake and nothing
 * else, stdin belongs to Terraform, and SIGINT and SIGTERM are left to Terraform, which says what to do.
 */
export async function serveProvider(name: string, parts: ProviderParts): Promise<void> {
  const environment = readEnvironment(name, process.env)
  if ('refusal' in environment) {
    process.stderr.write(`${environment.refusal}\n`)
    process.exitCode = 1
    return
  }
  const log = createLog({
    level: environment.logLevel,
    module: `provider.${name}`,
    write: (line) => void process.stderr.write(line),
    nowMs: Date.now,
  })
  claimOutput()
  const calls = createCallTable()
  guardProcess(calls, log)
  const fail = (error: unknown): never => {
    const reason = error instanceof Error ? `${error.message}: ${error.cause}` : String(error)
    // Written at once: on Windows the process would end before a stream has written.
    writeSync(STDERR, `the ${name} provider could not start: ${reason}\n`)
    process.exit(1)
  }
  try {
    // Watched before the handshake, after which Terraform may be killed at any moment.
    let shutDown = (): void => process.exit(0)
    endWithParent(() => shutDown())
    const { socket, access } = await shakeHands(environment)
    shutDown = () => exitWithout(socket)
    log.debug('listening', { ...socket.address })
    const { createPluginServer } = await import('./plugin/server.ts')
    const plugin = createPluginServer({
      access,
      schema: await parts.schema?.(),
      provider: (ending) => parts.provider().then((methods) => methods({ log, calls, ending }), fail),
      onShutdown: () => {
        calls.stop()
        shutDown()
      },
    })
    shutDown = () => {
      plugin.end(() => exitWithout(socket))
      setTimeout(() => exitWithout(socket), SHUTDOWN_MAX_MS)
    }
    socket.handOver(plugin.serve)
  } catch (error) {
    fail(error)
  }
}

/** Opens the socket, says so on stdout, and tells who may connect. */
async function shakeHands({
  clientCertificate,
  socketDirectory,
  ports,
}: PluginEnvironment): Promise<{ readonly socket: OpenSocket; readonly access: Access }> {
  const socket = await openSocket(socketDirectory, ports)
  const own = clientCertificate === undefined ? undefined : createCertificate(Date.now())
  writeSync(STDOUT, handshakeLine(socket.address, own?.certificate))
  if (clientCertificate === undefined || own === undefined) return { socket, access: { kind: 'open' } }
  return { socket, access: { kind: 'mutualTls', clientCertificate, own } }
}

function exitWithout(socket: OpenSocket): void {
  socket.close()
  process.exit(0)
}

/**
 * Sends whatever is printed to stderr from now on: stdout is for the handshake.
 *
 * Node's own stream is not made, which takes each process a millisecond: `node:http2` looks at it when it is loaded.
 */
function claimOutput(): void {
  const stderr = new Writable({
    write: (chunk, _, done) => {
      try {
        writeSync(STDERR, chunk)
      } catch {
        // Terraform may be gone before the last line is written, which must not end a handler half-way.
      }
      done()
    },
  })
  for (const name of ['stdout', 'stderr']) {
    Object.defineProperty(process, name, { value: stderr, configurable: true })
  }
}

/** Keeps the process alive until Shutdown, and lets the calls under way answer when something breaks. */
function guardProcess(calls: CallTable, log: Log): void {
  // Ctrl-C reaches the whole process group; Terraform then calls StopProvider and waits for the answers.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', { message: error.message, stack: error.stack ?? '' })
    calls.crash(error)
  })
  process.on('unhandledRejection', (reason) => {
    // The handler that dropped a promise is not waiting for it, so it comes to its own end.
    log.error('unhandled rejection', {
      message: reason instanceof Error ? (reason.stack ?? '') : String(reason),
    })
  })
}

/** Ends the process when the one that started it is gone: a killed Terraform sends no Shutdown. */
function endWithParent(shutDown: () => void): void {
  const isParentThere = watchParent()
  setInterval(() => {
    if (!isParentThere()) shutDown()
  }, PARENT_CHECK_MS).unref()
}
