/** Runs a provider in a process that Terraform did not start: a test or a debugger. */

import type { Provider } from './authoring/provider.ts'
import { createCallTable } from './plugin/callTable.ts'
import { reattachJson } from './plugin/environment.ts'
import { createLog, logLevelFrom } from './plugin/log.ts'
import { served } from './plugin/providerRpcs.ts'
import { createPluginServer } from './plugin/server.ts'
import { openSocket } from './plugin/socket.ts'

/** A provider that waits for Terraform. */
export interface Reattachable {
  /** The value of TF_REATTACH_PROVIDERS for the environment of terraform or tofu. */
  readonly environmentValue: string
  /** Path of the socket, or host and port, for other clients than Terraform. */
  readonly target: string
  close(): void
}

/**
 * Serves `provider` without TLS under each of its `sources` (`namespace/type`, or with the registry's host), to one
 * Terraform at a time. Terraform does not end the process; `close` ends the service.
 */
export async function serveForReattach(
  provider: Provider,
  sources: readonly string[],
): Promise<Reattachable> {
  const log = createLog(provider.name, logLevelFrom(process.env))
  const calls = createCallTable()
  const plugin = createPluginServer({
    access: { kind: 'open' },
    provider: async (ending) => served(provider)({ log, calls, ending }),
    onShutdown: calls.stop,
  })
  const socket = await openSocket(undefined)
  const { address } = socket
  socket.handOver(plugin.serve)
  return {
    environmentValue: reattachJson(sources, address, process.pid),
    target: address.network === 'unix' ? `unix:${address.address}` : address.address,
    close: () => {
      plugin.close()
      socket.close()
    },
  }
}
