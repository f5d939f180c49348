import type { Command } from '../domain/commands.ts'

/** Receives the commands in the outbox, at least once. The current definitions are in the store. */
export interface Bus {
  /** Resolves when the receiver knows of the commands. A rejection keeps them in the outbox. */
  publish(commands: readonly Command[]): Promise<void>
}

/** The bus of a server that monitors nothing, where no region waits for commands. */
export const silentBus: Bus = { publish: async () => {} }
