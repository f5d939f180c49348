import { randomBytes, randomUUID } from 'node:crypto'
import { Client } from '../../../api/client/client.ts'
import type { Org } from '../../../api/contract/org.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { requireWriteScope } from '../../apply/applySet.ts'
import { systemClock } from '../../controller/schedule/clock.ts'
import { waitText, watchApiWait } from '../../run/apiWait.ts'
import { Interrupted, UsageError } from '../../run/failure.ts'
import { type HeldLease, type LeaseClock, takeLease } from '../../state/model/lease.ts'
import type { StateReading, StateStore } from '../../state/model/store.ts'
import { nullStore } from '../../state/nullStore.ts'
import { openStore, readStore, storeExists } from '../../state/openStore.ts'
import {
  isOfOtherKey,
  requireKeyPlace,
  STATE_KEY_VARIABLE,
  type StateKey,
  stateKeyFor,
} from '../../state/stateKey.ts'
import type { CommandContext } from './context.ts'
import { holderName } from './holder.ts'
import type { Interruption } from './interruption.ts'
import { signalOf } from './interruption.ts'
import { apiAccess, type Environment, lockTimeoutMs, timeoutMs } from './settings.ts'

/** A client, a state and its key, opened together and closed together. */
export interface Session {
  readonly client: Client
  readonly store: StateReading
  readonly stateKey: StateKey
  /** Whether the key is the same in the next run. */
  readonly hasLastingKey: boolean
  readonly url: string
  readonly runId: string
  /** Number of requests so far. */
  readonly requests: () => number
  readonly close: () => Promise<void>
}

/** A session that holds the lease of its state. */
export interface WritingSession extends Session {
  readonly store: StateStore
  readonly lease: HeldLease
  /** The organisation of the key, if it was requested before the state was created. */
  readonly org: Org | undefined
}

const USER_AGENT = `pharos/${packageJson.version}`

/**
 * A client that counts its requests and reports its waits. Reads end when the program is asked to stop, and all waits end
 * with the time limit of the command. Throws UsageError when the address or the key is missing.
 */
export function openClient(context: CommandContext): Pick<Session, 'client' | 'requests' | 'url' | 'close'> {
  const { options, env, output, interruption } = context
  const access = apiAccess(options, env)
  const timeout = timeoutMs(options, env)
  const wait = watchApiWait({
    clock: systemClock,
    timeoutMs: timeout,
    onWait: (report) => output.notice(waitText(report)),
  })
  let requests = 0
  let isWaiting = false
  const client = new Client({
    ...access,
    userAgent: USER_AGENT,
    endReads: signalOf(interruption),
    endWaits: () => wait.signal,
    observer: wait.observer,
    onAttempt: () => {
      requests += 1
      if (isWaiting) output.passing('')
      isWaiting = false
    },
    onRetry: ({ reason, delayMs }) => {
      isWaiting = true
      output.passing(`${reason}; trying again in ${(delayMs / 1_000).toFixed(1)} s`)
    },
  })
  const close = async (): Promise<void> => {
    wait.stop()
    await client.close()
  }
  return { client, url: access.url, requests: () => requests, close }
}

/** Opens a session for a command that only reads; creates no file. */
export function openSession(context: CommandContext): Promise<Session> {
  const { state } = context.options
  return opened(context, { makes: false }, async ({ exists, closers }) => {
    // A missing state is read as an empty one.
    const isPresent = exists && state !== undefined
    const store = isPresent
      ? await readStore(state, context.env)
      : { ...nullStore(), isDurable: state !== undefined }
    closers.push(() => store.close())
    return { store }
  })
}

/** Opens a session for a command that writes only the state: creates a missing state and holds its lease. */
export function openWritingSession(context: CommandContext): Promise<WritingSession> {
  return openToWrite(context, () => {})
}

/** The same for a command that also writes to the API: a read-only key is refused before a state is created. */
export function openSendingSession(context: CommandContext): Promise<WritingSession> {
  return openToWrite(context, requireWriteScope)
}

function openToWrite(context: CommandContext, requireScope: (org: Org) => void): Promise<WritingSession> {
  const { options, env } = context
  const { state } = options
  return opened(context, { makes: true }, async ({ client, exists, closers }) => {
    let org: Org | undefined
    if (state !== undefined && !exists) {
      // An unreachable server or a revoked key creates no state.
      requireKeyPlace(state, env[STATE_KEY_VARIABLE])
      org = await client.getOrg()
      requireScope(org)
    }
    const store = state === undefined ? nullStore() : await openStore(state, env)
    closers.push(() => store.close())
    const lease = await leaseOf(store, context)
    closers.push(lease.release)
    return { store, lease, org }
  })
}

interface Opening {
  readonly client: Client
  /** Whether there is a state at --state. */
  readonly exists: boolean
  /**
   * Called in reverse order at the end: a held lease would delay the next run, and an open client the end of this one.
   */
  readonly closers: (() => Promise<void>)[]
}

/** A client, with the state that `open` opens and its key; `makes` is whether it creates a missing state. */
async function opened<Opened extends Pick<Session, 'store'>>(
  context: CommandContext,
  { makes }: { readonly makes: boolean },
  open: (opening: Opening) => Promise<Opened>,
): Promise<Omit<Session, 'store'> & Opened> {
  const { close: closeClient, ...connection } = openClient(context)
  const closers = [closeClient]
  const close = (): Promise<void> => closeAll(closers)
  try {
    const { state } = context.options
    const exists = state !== undefined && (await storeExists(state, context.env))
    const opening = await open({ client: connection.client, exists, closers })
    const key = await keyOf(opening.store, context, { exists, makes })
    return { ...connection, ...opening, ...key, runId: randomUUID(), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Calls `closers`, the last first, each even if another one fails. */
async function closeAll([close, ...later]: readonly (() => Promise<void>)[]): Promise<void> {
  if (close === undefined) return
  try {
    await closeAll(later)
  } finally {
    await close()
  }
}

/** Acquires the lease of `store`, waiting for at most --lock-timeout. */
function leaseOf(
  store: StateStore,
  { options, interruption }: Pick<CommandContext, 'options' | 'interruption'>,
): Promise<HeldLease> {
  return takeLease(store, holderName(), lockTimeoutMs(options), leaseClock(interruption))
}

function leaseClock(interruption: Interruption): LeaseClock {
  return {
    nowMs: () => performance.now(),
    sleep: async (delayMs) => {
      await sleepUnlessStopped(delayMs, interruption)
      const exitCode = interruption.exitCode()
      if (exitCode !== undefined) throw new Interrupted(exitCode)
    },
    every: (periodMs, run) => {
      if (!Number.isFinite(periodMs)) return () => {}
      const timer = setInterval(run, periodMs)
      return () => clearInterval(timer)
    },
  }
}

/** Resolves after `delayMs`, or at once when the program is asked to stop. */
export function sleepUnlessStopped(delayMs: number, interruption: Interruption): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs)
    interruption.onStop(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const ALL_CHANGED = 'every secret counts as changed once'

/** The key of the fingerprints in `store`; a temporary one where they are never compared with another run. */
async function keyOf(
  store: StateReading,
  { options, env, output }: CommandContext,
  { exists, makes }: { readonly exists: boolean; readonly makes: boolean },
): Promise<Pick<Session, 'stateKey' | 'hasLastingKey'>> {
  const temporary = { stateKey: randomBytes(32).toString('hex'), hasLastingKey: false }
  const location = options.state
  if (location === undefined) {
    output.notice(
      'no --state: only services with metadata.id are managed, and nothing is removed; to manage all, add --state FILE, which the first apply creates',
    )
    return temporary
  }
  if (!exists) output.notice(`no state at ${location} yet: everything is new`)
  if (!makes && !exists) return temporary
  const fromEnvironment = env[STATE_KEY_VARIABLE] ?? ''
  const key = stateKeyFor(location, fromEnvironment, makes)
  // Only a new key file or a key from the environment can differ from the one that the state was written with.
  const bindings = exists && (key.isNew || fromEnvironment !== '') ? await store.bindings() : []
  if (key.isNew && bindings.length > 0)
    output.notice(`the key of the state was missing (${location}.key): ${ALL_CHANGED}`)
  const fingerprinted = bindings.map(({ desired }) => desired)
  if (fromEnvironment !== '' && isOfOtherKey(fromEnvironment, fingerprinted))
    output.notice(`${STATE_KEY_VARIABLE} is not the key of this state: ${ALL_CHANGED}`)
  return key.value === undefined ? temporary : { stateKey: key.value, hasLastingKey: true }
}

/** Runs `use` with `opened`, which is closed afterwards. */
export async function closingAfter<Opened extends { close(): Promise<void> }, Result>(
  opened: Opened,
  use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(opened)
  } finally {
    await opened.close()
  }
}

/** Runs `write` while holding the lease of `store`. */
export async function withLease<Result>(
  store: StateStore,
  context: CommandContext,
  write: () => Promise<Result>,
): Promise<Result> {
  const lease = await leaseOf(store, context)
  try {
    return await write()
  } finally {
    await lease.release()
  }
}

/** Throws UsageError when `location` is given, but has no state. */
export async function requireExistingState(location: string | undefined, env: Environment): Promise<void> {
  if (location === undefined || (await storeExists(location, env))) return
  throw new UsageError(
    `there is no state at ${location}: the first apply creates it; correct --state if there should be one`,
  )
}
