/** Runs a provider as the process that Terraform starts. */

import type { Log } from './authoring/log.ts'
import type { Access } from './plugin/access.ts'
import { type CallTable, createCallTable } from './plugin/callTable.ts'
import { createCertificate } from './plugin/certificate.ts'
import { handshakeLine, type PluginEnvironment, readEnvironment } from './plugin/environment.ts'
import { createLog } from './plugin/log.ts'
import type { ServedProvider } from './plugin/server.ts'
import { type OpenSocket, openSocket } from './plugin/socket.ts'

/** Time for the answer to Shutdown to reach Terraform before the process ends regardless (milliseconds). */
const SHUTDOWN_MAX_MS = 100
/** How often it is looked whether Terraform is still there (milliseconds). */
const PARENT_CHECK_MS = 1_000

/**
 * Serves the provider that `load` gives (`served(defineProvider(…))`) to the Terraform or OpenTofu that started this process, and ends the
 * process when asked to. `name` is the provider's type, as in `terraform-provider-<name>`.
 *
 * Terraform starts a provider several times per command and waits for its handshake: import what is large, which
 * includes `served`, inside of `load`. It runs after the handshake, while Terraform connects.
 *
 * Started by a person it explains itself on stderr and exits with 1. stdout carries the handshake and nothing
 * else, stdin belongs to Terraform, and SIGINT and SIGTERM are left to Terraform, which says what to do.
 */
export async function serveProvider(name: string, load: () => Promise<ServedProvider>): Promise<void> {
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
  const print = claimOutput()
  const calls = createCallTable()
  guardProcess(calls, log)
  try {
    // Watched before the handshake, after which Terraform may be killed at any moment.
    let shutDown = (): void => process.exit(0)
    endWithParent(() => shutDown())
    const { socket, access } = await shakeHands(environment, print)
    shutDown = () => exitWithout(socket)
    const serve = await load()
    const plugin = serve({ log, calls, access, onShutdown: () => shutDown() })
    shutDown = () => {
      plugin.end(() => exitWithout(socket))
      setTimeout(() => exitWithout(socket), SHUTDOWN_MAX_MS)
    }
    socket.handOver(plugin.serve)
  } catch (error) {
    const reason = error instanceof Error ? `${error.message}: ${error.cause}` : String(error)
    process.stderr.write(`the ${name} provider could not start: ${reason}\n`)
    process.exit(1)
  }
}

/** Opens the socket, says so on stdout, and tells who may connect. */
async function shakeHands(
  { clientCertificate, socketDirectory }: PluginEnvironment,
  print: (text: string) => void,
): Promise<{ readonly socket: OpenSocket; readonly access: Access }> {
  const socket = await openSocket(socketDirectory)
  if (clientCertificate === undefined) {
    print(handshakeLine(socket.address, undefined))
    return { socket, access: { kind: 'open' } }
  }
  const own = createCertificate(Date.now())
  print(handshakeLine(socket.address, own.certificate))
  return { socket, access: { kind: 'mutualTls', clientCertificate, own } }
}

function exitWithout(socket: OpenSocket): void {
  socket.close()
  process.exit(0)
}

/** Sends whatever is printed to stderr from now on; gives the function that still writes to stdout. */
function claimOutput(): (text: string) => void {
  const print = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // Terraform may be gone before the last line is written, which must not end a handler half-way.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return (text) => void print(text)
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
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) shutDown()
  }, PARENT_CHECK_MS).unref()
}
