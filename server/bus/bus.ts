import type { Delivery } from '../domain/commands.ts'

/** Where commands go when the outbox lets them out. Delivery is at least once: receivers compare store and generation. */
export interface Bus {
  /** Resolves when the receiver has the command. A rejection keeps it in the outbox. */
  publish(command: Delivery): Promise<void>
}

/** The bus of a server that monitors nothing: no region waits for a command. */
export const silentBus: Bus = { publish: async () => {} }
