import { randomBytes, randomUUID } from 'node:crypto'
import { Client } from '../../../api/client/client.ts'
import type { Org } from '../../../api/contract/org.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { requireWriteScope } from '../../apply/applySet.ts'
import { machineWaitClock, waitText, watchApiWait } from '../../run/apiWait.ts'
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
export function openClient({
  options,
  env,
  output,
  interruption,
}: CommandContext): Pick<Session, 'client' | 'requests' | 'url' | 'close'> {
  const access = apiAccess(options, env)
  const timeout = timeoutMs(options, env)
  const wait = watchApiWait({
    clock: machineWaitClock,
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
export async function openSession(context: CommandContext): Promise<Session> {
  const { client, requests, url, close } = openClient(context)
  try {
    const { store, ...key } = await openState(context, {
      exists: await stateExistsFor(context),
      makes: false,
      open: readStore,
      release: (opened) => opened.close(),
    })
    return { client, store, ...key, url, runId: randomUUID(), requests, close: closing(close, store) }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens a session for a command that writes only the state: creates a missing state and holds its lease. */
export function openWritingSession(context: CommandContext): Promise<WritingSession> {
  return openToWrite(context, () => {})
}

/** The same for a command that also writes to the API: a read-only key is refused before a state is created. */
export function openSendingSession(context: CommandContext): Promise<WritingSession> {
  return openToWrite(context, requireWriteScope)
}

async function openToWrite(
  context: CommandContext,
  requireScope: (org: Org) => void,
): Promise<WritingSession> {
  const { options, env } = context
  const { client, requests, url, close: closeClient } = openClient(context)
  try {
    const exists = await stateExistsFor(context)
    const org = exists ? undefined : await orgBeforeState(options.state, env, client)
    if (org !== undefined) requireScope(org)
    const opened = await openHeld(context, exists)
    const close = closing(closeClient, opened.store, opened.lease)
    return { client, ...opened, org, url, runId: randomUUID(), requests, close }
  } catch (error) {
    await closeClient()
    throw error
  }
}

/** Requests the organisation before a state is created, so that an unreachable server or a revoked key creates none. */
async function orgBeforeState(
  location: string | undefined,
  env: Environment,
  client: Client,
): Promise<Org | undefined> {
  if (location === undefined) return undefined
  requireKeyPlace(location, env[STATE_KEY_VARIABLE])
  return client.getOrg()
}

async function openHeld(
  context: CommandContext,
  exists: boolean,
): Promise<Pick<WritingSession, 'store' | 'lease' | 'stateKey' | 'hasLastingKey'>> {
  const { env } = context
  let lease: HeldLease | undefined
  const opened = await openState<StateStore>(context, {
    exists,
    makes: true,
    open: async (location) => {
      const store = await openStore(location, env)
      lease = await leaseOf(store, context)
      return store
    },
    // The lease is released first: a held lease would delay the next run and the end of this one.
    release: async (store) => {
      await lease?.release().finally(() => store.close())
    },
  })
  const { store, ...key } = opened
  return { store, ...key, lease: lease ?? (await leaseOf(store, context)) }
}

/** Acquires the lease of `store`, waiting for at most --lock-timeout; closes the store on failure. */
export async function leaseOf(
  store: StateStore,
  { options, interruption }: Pick<CommandContext, 'options' | 'interruption'>,
): Promise<HeldLease> {
  try {
    return await takeLease(store, holderName(), lockTimeoutMs(options), leaseClock(interruption))
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Releases the lease, and closes client and store even if that fails: an open client would keep the program running. */
function closing(closeClient: Session['close'], store: StateReading, lease?: HeldLease): () => Promise<void> {
  return async () => {
    try {
      await lease?.release()
    } finally {
      await Promise.all([closeClient(), store.close()])
    }
  }
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

/** Whether there is a state at --state; false without that option. Throws StateError. */
async function stateExistsFor({ options, env }: CommandContext): Promise<boolean> {
  return options.state !== undefined && (await storeExists(options.state, env))
}

interface Opening<Store> {
  readonly exists: boolean
  /** Whether to create a missing state. */
  readonly makes: boolean
  readonly open: (location: string, env: Environment) => Promise<Store>
  readonly release: (store: Store) => Promise<void>
}

async function openState<Store extends StateReading>(
  { options, env, output }: CommandContext,
  { exists, makes, open, release }: Opening<Store>,
): Promise<{ readonly store: Store | StateStore } & Pick<Session, 'stateKey' | 'hasLastingKey'>> {
  // Fingerprints that are never compared with another run need no lasting key.
  const temporaryKey = (): Pick<Session, 'stateKey' | 'hasLastingKey'> => ({
    stateKey: randomBytes(32).toString('hex'),
    hasLastingKey: false,
  })
  const location = options.state
  if (location === undefined) {
    output.notice(
      'no --state: only services with metadata.id are managed, and nothing is removed; to manage all, add --state FILE, which the first apply creates',
    )
    return { store: nullStore(), ...temporaryKey() }
  }
  if (!exists) output.notice(`no state at ${location} yet: everything is new`)
  // A command that only reads creates no file: a missing state is read as an empty one.
  if (!makes && !exists) return { store: { ...nullStore(), isDurable: true }, ...temporaryKey() }
  const store = await open(location, env)
  try {
    const fromEnvironment = env[STATE_KEY_VARIABLE] ?? ''
    const key = stateKeyFor(location, fromEnvironment, makes)
    // Only a new key file or a key from the environment can differ from the one that the state was written with.
    const bindings = exists && (key.isNew || fromEnvironment !== '') ? await store.bindings() : []
    if (key.isNew && bindings.length > 0)
      output.notice(`the key of the state was missing (${location}.key): ${ALL_CHANGED}`)
    const fingerprinted = bindings.map(({ desired }) => desired)
    if (fromEnvironment !== '' && isOfOtherKey(fromEnvironment, fingerprinted))
      output.notice(`${STATE_KEY_VARIABLE} is not the key of this state: ${ALL_CHANGED}`)
    return key.value === undefined
      ? { store, ...temporaryKey() }
      : { store, stateKey: key.value, hasLastingKey: true }
  } catch (error) {
    await release(store)
    throw error
  }
}

/** Throws UsageError when `location` is given, but has no state. */
export async function requireExistingState(location: string | undefined, env: Environment): Promise<void> {
  if (location === undefined || (await storeExists(location, env))) return
  throw new UsageError(
    `there is no state at ${location}: the first apply creates it; correct --state if there should be one`,
  )
}
