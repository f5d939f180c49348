import { randomBytes, randomUUID } from 'node:crypto'
import type { Role } from '../../domain/accounts/roles.ts'
import { hashToken, newToken } from '../../domain/accounts/sessions.ts'
import { type StartServerOptions, startServer, type TestServer } from '../../testing/startServer.ts'
import { ConsoleClient } from './consoleClient.ts'

/** A person for a test. */
export interface TestPerson {
  readonly id: string
  readonly email: string
  /** Signed in; `elevated` people have just given their password. */
  readonly client: ConsoleClient
  /** Path of the pages of the organisation: `/o/<id>`. */
  readonly root: string
  /** Path of its actions: `/api/o/<id>`. */
  readonly actions: string
}

/** Cost of the hashes of tests: a hash of the usual cost takes longer than all else that a request does. */
export const QUICK_HASH = { log2: 10, blocks: 8, rounds: 1 } as const

/** A real server with a console. */
export interface ConsoleServer extends TestServer {
  /**
   * A new person with a role in an organisation (the first one when absent), signed in. Without a password: only tests of
   * passwords wait for a hash. `isElevated` is true when absent.
   */
  readonly signIn: (
    role: Role,
    options?: { readonly orgId?: string; readonly isElevated?: boolean; readonly name?: string },
  ) => Promise<TestPerson>
  /** A browser without a session. */
  readonly visitor: () => ConsoleClient
}

/** Starts a server with a console, without a rate limit, with quick hashes of passwords unless `options` says otherwise. */
export async function startConsoleServer(options: StartServerOptions = {}): Promise<ConsoleServer> {
  const console = { passwordCost: QUICK_HASH, ...options.console }
  const server = await startServer({ rateLimit: 'none', ...options, console })
  const { store, consoleUrl } = server
  const nowMs = options.environment?.nowMs ?? Date.now
  const signIn: ConsoleServer['signIn'] = async (role, given = {}) => {
    const { orgId = server.orgId, isElevated = true, name = `Test ${role}` } = given
    const id = randomUUID()
    const email = `${role}-${id.slice(0, 8)}@example.org`
    const tokenHash = randomBytes(32)
    const expiresAtMs = nowMs() + 60_000
    await store.invite({ tokenHash, orgId, email, role, expiresAtMs }, { kind: 'cli' }, nowMs())
    const newPerson = { kind: 'new', personId: id, name, passwordHash: 'none' } as const
    await store.acceptInvitation(tokenHash, newPerson, nowMs())
    const token = newToken(randomBytes)
    const session = {
      ...{ idHash: hashToken(token), personId: id, createdAtMs: nowMs(), seenAtMs: nowMs() },
      ...{ elevatedAtMs: isElevated ? nowMs() : null, browser: 'Test browser' },
    }
    await store.openSession(session, newPerson.passwordHash)
    const client = new ConsoleClient(consoleUrl, token)
    return { id, email, client, root: `/o/${orgId}`, actions: `/api/o/${orgId}` }
  }
  return { ...server, signIn, visitor: () => new ConsoleClient(consoleUrl) }
}
