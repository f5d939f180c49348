import type { Delivery } from '../domain/commands.ts'
import type { Bus } from './bus.ts'

type Receive = (command: Delivery) => Promise<void>

/** A bus within one process: publishing resolves when every subscriber of the region has taken the command. */
export function inProcessBus(): Bus {
  const receivers = new Map<string, Set<Receive>>()
  return {
    publish: async (command) => {
      const ofRegion = receivers.get(command.region)
      if (ofRegion !== undefined) await Promise.all([...ofRegion].map((receive) => receive(command)))
    },
    subscribe: (region, receive) => {
      const ofRegion = receivers.get(region) ?? new Set<Receive>()
      receivers.set(region, ofRegion.add(receive))
      return () => {
        ofRegion.delete(receive)
      }
    },
  }
}
