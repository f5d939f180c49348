import type { Delivery } from '../domain/commands.ts'

/** Where commands go when the outbox lets them out. Delivery is at least once: receivers compare store and generation. */
export interface Bus {
  /** Resolves when the command is in the hands of whoever carries it out. A rejection keeps it in the outbox. */
  publish(command: Delivery): Promise<void>
  /** Hands every command for `region` to `receive` until the returned function is called. */
  subscribe(region: string, receive: (command: Delivery) => Promise<void>): () => void
}
