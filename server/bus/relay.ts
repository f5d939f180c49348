import { BUS_READER, type OutboxStore } from '../store/store.ts'
import type { Bus } from './bus.ts'

/** Maximum number of commands read from the outbox at once. */
const BATCH_MAX = 500
/** Pause before commands are fetched, so that those of many requests are marked in one write (milliseconds). */
const GATHER_MS = 20
/**
 * Pause before a failed publication is retried, and between polls for commands written by another process
 * (milliseconds).
 */
const POLL_MS = 1_000

export interface RelayParts {
  readonly store: OutboxStore & { onCommands(listener: () => void): void }
  readonly bus: Bus
  readonly onError: (error: unknown) => void
}

/** A running relay from the outbox to the bus. */
export interface Relay {
  /** Publishes pending commands. Resolves when they are marked. */
  drain(): Promise<void>
  /** Stops polling and waits for the publication in progress. */
  stop(): Promise<void>
}

/**
 * Publishes the commands of the outbox in order and marks them afterwards. After a crash in between some are published
 * again, but none is lost. Runs after each commit, and once a second for commands of other processes.
 */
export function startRelay({ store, bus, onError }: RelayParts): Relay {
  let underWay: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function publishAll(): Promise<void> {
    // After a stop, the next start publishes the rest.
    while (!isStopped) {
      const from = await store.cursorOf(BUS_READER)
      const { commands, next } = await store.commandsAfter(from, BATCH_MAX)
      if (commands.length === 0) return
      await bus.publish(commands)
      await store.moveCursor(BUS_READER, from, next)
    }
  }

  function drain(): Promise<void> {
    underWay = underWay.then(publishAll)
    const drained = underWay
    underWay = underWay.catch(onError)
    return drained
  }

  function pollAfter(delayMs: number): void {
    if (isStopped) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      drain().then(
        () => pollAfter(POLL_MS),
        () => pollAfter(POLL_MS),
      )
    }, delayMs)
  }

  let isGathering = false
  store.onCommands(() => {
    if (isGathering) return
    isGathering = true
    setTimeout(() => {
      isGathering = false
      if (!isStopped) void drain().catch(() => {})
    }, GATHER_MS)
  })
  pollAfter(0)
  return {
    drain,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
