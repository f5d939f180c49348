import { randomBytes, randomUUID } from 'node:crypto'
import { Client } from '../../api/client/client.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { forgetfulStore } from '../state/forgetfulStore.ts'
import { stateExists } from '../state/openDatabase.ts'
import { openSqliteStore, readSqliteStore } from '../state/sqliteStore.ts'
import { type StateKey, stateKeyFor } from '../state/stateKey.ts'
import type { StateStore } from '../state/store.ts'
import type { Output } from './output.ts'
import { apiAccess, type CommandOptions, type Environment, UsageError } from './settings.ts'

/** A client, a state and its key, opened together and closed together. */
export interface Session {
  readonly client: Client
  readonly store: StateStore
  readonly stateKey: StateKey
  readonly url: string
  readonly runId: string
  /** Requests made so far. */
  readonly requests: () => number
  readonly close: () => Promise<void>
}

const USER_AGENT = `pharos/${packageJson.version}`

/** A client that counts its requests. Throws UsageError where address or key is missing. */
export function openClient(
  options: CommandOptions,
  env: Environment,
): Pick<Session, 'client' | 'requests' | 'url'> {
  const access = apiAccess(options, env)
  let requests = 0
  const client = new Client({
    ...access,
    userAgent: USER_AGENT,
    onAttempt: () => {
      requests += 1
    },
  })
  return { client, url: access.url, requests: () => requests }
}

/** Opens what a command needs; one that writes makes the state where there is none and holds its lock. */
export async function openSession(
  options: CommandOptions,
  env: Environment,
  output: Output,
  mode: 'read' | 'write',
): Promise<Session> {
  const { client, requests, url } = openClient(options, env)
  const { store, stateKey } = await openState(options, env, output, mode)
  return {
    client,
    store,
    stateKey,
    url,
    runId: randomUUID(),
    requests,
    close: async () => {
      await Promise.all([client.close(), store.close()])
    },
  }
}

async function openState(
  options: CommandOptions,
  env: Environment,
  output: Output,
  mode: 'read' | 'write',
): Promise<Pick<Session, 'store' | 'stateKey'>> {
  // Marks that nothing is compared with need no lasting key.
  const passing = (): StateKey => randomBytes(32).toString('hex')
  const path = options.state
  if (path === undefined) {
    output.notice('no --state: only services with metadata.id are managed, and nothing is removed')
    return { store: forgetfulStore(), stateKey: passing() }
  }
  const exists = stateExists(path)
  if (!exists) output.notice(`no state at ${path} yet: everything is new`)
  // Whoever only looks leaves no file behind: a state that is not there yet remembers nothing.
  if (mode === 'read' && !exists)
    return { store: { ...forgetfulStore(), isDurable: true }, stateKey: passing() }
  const store = await (mode === 'write' ? openSqliteStore(path) : readSqliteStore(path))
  try {
    const key = stateKeyFor(path, env.PHAROS_STATE_KEY, mode === 'write')
    const lost = exists && key.isNew && (await store.bindings()).length > 0
    if (lost)
      output.notice(`the key of the state was not there (${path}.key): every secret counts as changed once`)
    return { store, stateKey: key.value ?? passing() }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Throws UsageError when `path` is given and there is no state: what it was asked for cannot be told. */
export function requireExistingState(path: string | undefined): void {
  if (path === undefined || stateExists(path)) return
  throw new UsageError(
    `there is no state at ${path}: the first apply makes it; correct --state if there was one`,
  )
}
