/** Runs a provider as the process that Terraform starts. */
import { bind } from './plugin/bind.ts'
import { createCertificate } from './plugin/certificate.ts'
import { handshakeLine, type PluginEnvironment, readEnvironment } from './plugin/environment.ts'
import { createLog, type Log } from './plugin/log.ts'
import { createPluginServer, type PluginServer } from './plugin/server.ts'
import type { Provider } from './provider.ts'

/** Time for the answer to Shutdown to reach Terraform before the process ends regardless (milliseconds). */
const SHUTDOWN_MAX_MS = 100
/** How often it is looked whether Terraform is still there (milliseconds). */
const PARENT_CHECK_MS = 1_000

/**
 * Serves `provider` to the Terraform or OpenTofu that started this process, and ends the process when told to.
 *
 * Started by a person it explains itself on stderr and exits with 1. stdout carries the handshake and nothing
 * else, stdin belongs to Terraform, and SIGINT and SIGTERM are left to Terraform, which says what to do.
 */
export async function serveProvider(provider: Provider): Promise<void> {
  const environment = readEnvironment(provider.name, process.env)
  if ('refusal' in environment) {
    process.stderr.write(`${environment.refusal}\n`)
    process.exitCode = 1
    return
  }
  const log = createLog({
    level: environment.logLevel,
    module: `provider.${provider.name}`,
    write: (line) => void process.stderr.write(line),
    nowMs: Date.now,
  })
  const print = claimOutput()
  const plugin = createPluginServer({ provider, log, onShutdown: () => shutDown() })
  guardProcess(plugin, log)
  let shutDown = (): void => process.exit(0)
  try {
    // Watched before the handshake, after which Terraform may be killed at any moment.
    endWithParent(() => shutDown())
    shutDown = await listen(plugin, environment, print)
  } catch (error) {
    const reason = error instanceof Error ? `${error.message}: ${error.cause}` : String(error)
    process.stderr.write(`the ${provider.name} provider could not start: ${reason}\n`)
    process.exitCode = 1
  }
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
function guardProcess({ calls }: PluginServer, log: Log): void {
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

/** Opens the socket and says so on stdout. Resolves with what ends the process. */
async function listen(
  plugin: PluginServer,
  { clientCertificate, socketDirectory }: PluginEnvironment,
  print: (text: string) => void,
): Promise<() => void> {
  const own = clientCertificate === undefined ? undefined : createCertificate(Date.now())
  const { address, remove } = await bind(
    plugin,
    socketDirectory,
    clientCertificate === undefined || own === undefined
      ? { kind: 'open' }
      : { kind: 'mutualTls', clientCertificate, own },
  )
  print(handshakeLine(address, own?.certificate))
  const exit = (): void => {
    remove()
    process.exit(0)
  }
  return () => {
    plugin.endStreams()
    plugin.server.tryShutdown(exit)
    setTimeout(exit, SHUTDOWN_MAX_MS)
  }
}
