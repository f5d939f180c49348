/** Runs a provider in the process that Terraform starts. */

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
/** Maximum wait for the response to Shutdown to reach Terraform before the process ends (milliseconds). */
const SHUTDOWN_MAX_MS = 100
/** Interval between checks whether Terraform is still running (milliseconds). */
const PARENT_CHECK_MS = 1_000

/** Parts of a provider, each loaded when it is first needed. */
interface ProviderParts {
  /** The provider: `served(defineProvider(…))`. */
  provider(): Promise<ServedProvider>
  /**
   * The provider's response to GetProviderSchema as bytes (`encodedSchema`), if known without the provider: each
   * command starts one process only to fetch the schema.
   */
  schema?(): Promise<Uint8Array>
}

/**
 * Serves a provider to the Terraform or OpenTofu that started this process, and ends the process on Shutdown. `name` is
 * the provider's type, as in `terraform-provider-<name>`.
 *
 * Terraform starts a provider several times per command and waits for its handshake: import large modules, including `served`,
 * inside `parts`. They are loaded after the handshake, while Terraform connects.
 *
 * A process that a user starts prints an explanation on stderr and exits with 1. stdout has only the handshake, and
 * stdin belongs to Terraform. SIGINT and SIGTERM are ignored, because Terraform handles them and calls StopProvider.
 */
export async function serveProvider(name: string, parts: ProviderParts): Promise<void> {
  const environment = readEnvironment(name, process.env)
  if ('refusal' in environment) {
    process.stderr.write(`${environment.refusal}\n`)
    process.exitCode = 1
    return
  }
  const log = createLog(name, environment.logLevel)
  claimOutput()
  const calls = createCallTable()
  guardProcess(calls, log)
  const fail = (error: unknown): never => {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${error.cause}` : ''
    const reason = error instanceof Error ? `${error.message}${cause}` : String(error)
    // Written synchronously, because on Windows the process would end before a stream is flushed.
    writeSync(STDERR, `the ${name} provider could not start: ${reason}\n`)
    process.exit(1)
  }
  try {
    // The watch starts before the handshake, because Terraform may be killed at any time after it.
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
        calls.close()
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

/** Opens the socket, prints the handshake, and returns the permitted clients. */
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
 * Redirects all later output to stderr, because stdout is for the handshake.
 */
function claimOutput(): void {
  const stderr = new Writable({
    write: (chunk, _, done) => {
      try {
        writeSync(STDERR, chunk)
      } catch {
        // Terraform may end before the last line is written, which must not interrupt a handler.
      }
      done()
    },
  })
  for (const name of ['stdout', 'stderr']) {
    Object.defineProperty(process, name, { value: stderr, configurable: true })
  }
}

/** Keeps the process alive until Shutdown, and lets calls in progress respond after an uncaught exception. */
function guardProcess(calls: CallTable, log: Log): void {
  // Ctrl-C reaches the whole process group; Terraform then calls StopProvider and waits for the responses.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', { message: error.message, stack: error.stack ?? '' })
    calls.crash(error)
  })
  process.on('unhandledRejection', (reason) => {
    // The handler does not wait for the promise that it dropped, so it still ends.
    log.error('unhandled rejection', {
      message: reason instanceof Error ? (reason.stack ?? '') : String(reason),
    })
  })
}

/** Ends the process when its parent has ended: a killed Terraform sends no Shutdown. */
function endWithParent(shutDown: () => void): void {
  const isParentThere = watchParent()
  setInterval(() => {
    if (!isParentThere()) shutDown()
  }, PARENT_CHECK_MS).unref()
}
