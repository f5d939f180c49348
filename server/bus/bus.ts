import type { Delivery } from '../domain/commands.ts'

/** Receives commands from the outbox. Delivery is at least once: receivers compare store and generation. */
export interface Bus {
  /** Resolves when the receiver has the command. A rejection keeps it in the outbox. */
  publish(command: Delivery): Promise<void>
}

/** The bus of a server that monitors nothing, where no region waits for commands. */
export const silentBus: Bus = { publish: async () => {} }
