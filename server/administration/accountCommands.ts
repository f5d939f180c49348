import { type Command, InvalidArgumentError } from 'commander'
import { ApiError } from '../../api/contract/apiError.ts'
import { emailProblem, foldedEmail } from '../domain/accounts/emailAddress.ts'
import { hashToken, newToken, OPERATOR_LINK_MS } from '../domain/accounts/sessions.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import type { Store } from '../store/store.ts'
import { consoleUrlOption } from './options/consoleListening.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Default address of the console. */
const CONSOLE_URL = 'http://localhost:7173'

interface LinkOptions extends DatabaseOptions {
  readonly email: string
  readonly consoleUrl: string
}

const BY = { kind: 'cli' } as const

/** Adds `owner invite`, `member list`, `member remove`, `person reset` and `session end-all`. */
export function addAccountCommands(program: Command, write: Write): void {
  addInvite(program, write)
  addMemberCommands(program, write)
  addReset(program, write)
  const session = program.command('session').description('sessions of the console')
  addDatabase(session.command('end-all').description('sign a person out everywhere'))
    .requiredOption('--email <address>', 'e-mail address of the person', emailOption)
    .action(async ({ json, email, ...place }: DatabaseOptions & { email: string }) => {
      const ended = await inDatabase(place, async (store) => {
        const found = await store.personWithEmail(email)
        if (found === undefined)
          throw new ApiError(
            'not_found',
            `there is no person with the address ${email}: "pharos-server member list" shows those of an organisation`,
          )
        return store.endSessions(found.person.id, BY, systemEnvironment.nowMs())
      })
      present(write, json, { ended }, `ended ${ended} ${ended === 1 ? 'session' : 'sessions'}`)
    })
}

function addInvite(program: Command, write: Write): void {
  const owner = program.command('owner').description('owners of organisations, who use the console')
  addDatabase(
    owner.command('invite').description('print a link, valid 24 hours, that makes a person an owner'),
  )
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .requiredOption('--email <address>', 'e-mail address of the person', emailOption)
    .addOption(consoleUrlOption().default(CONSOLE_URL))
    .action(async ({ json, org: orgId, email, consoleUrl, ...place }: LinkOptions & { org: string }) => {
      const { token, ...link } = newLink()
      const invitation = { ...link, orgId, email, role: 'owner' } as const
      const nowMs = systemEnvironment.nowMs()
      await inDatabase(place, (store) => store.invite(invitation, BY, nowMs))
      const url = `${consoleUrl}/invite/${token}`
      present(write, json, { url }, url)
    })
}

function addReset(program: Command, write: Write): void {
  const person = program.command('person').description('people with an account')
  addDatabase(person.command('reset').description('print a link, valid 24 hours, that sets a new password'))
    .requiredOption('--email <address>', 'e-mail address of the person', emailOption)
    .addOption(consoleUrlOption().default(CONSOLE_URL))
    .action(async ({ json, email, consoleUrl, ...place }: LinkOptions) => {
      const { token, ...link } = newLink()
      const reset = { ...link, email, by: BY, nowMs: systemEnvironment.nowMs() }
      await inDatabase(place, (store) => store.startReset(reset))
      const url = `${consoleUrl}/reset/${token}`
      present(write, json, { url }, url)
    })
}

function addMemberCommands(program: Command, write: Write): void {
  const member = program.command('member').description('members of organisations')
  addDatabase(member.command('list').description('list the members of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async ({ json, org, ...place }: DatabaseOptions & { org: string }) => {
      const members = await inDatabase(place, (store) => store.listMembers(org))
      const shown = members.map(({ personId: id, email, name, role, createdAt, seenAtMs }) => ({
        ...{ id, email, name, role, created_at: createdAt },
        last_seen_at: seenAtMs === null ? null : timestamp(seenAtMs),
      }))
      const rows = shown.map(({ id, email, role, last_seen_at, name }) => [
        id,
        email,
        role,
        last_seen_at ?? '-',
        name,
      ])
      present(write, json, shown, table(['ID', 'EMAIL', 'ROLE', 'LAST SEEN', 'NAME'], rows))
    })
  addDatabase(
    member
      .command('remove')
      .description('remove a person from an organisation, and end their sessions there'),
  )
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .requiredOption('--email <address>', 'e-mail address of the person', emailOption)
    .action(async ({ json, org, email, ...place }: DatabaseOptions & { org: string; email: string }) => {
      await inDatabase(place, (store) => removeMember(store, org, email))
      present(write, json, { email }, `removed ${email}`)
    })
}

async function removeMember(store: Store, orgId: string, email: string): Promise<void> {
  const members = await store.listMembers(orgId)
  const found = members.find((member) => foldedEmail(member.email) === foldedEmail(email))
  if (found === undefined)
    throw new ApiError(
      'not_found',
      `the organisation has no member ${email}: "pharos-server member list" shows them`,
    )
  await store.removeMember({ orgId, personId: found.personId, by: BY, nowMs: systemEnvironment.nowMs() })
}

/** A new token for a link, and its stored hash. */
function newLink() {
  const token = newToken(systemEnvironment.randomBytes)
  return { token, tokenHash: hashToken(token), expiresAtMs: systemEnvironment.nowMs() + OPERATOR_LINK_MS }
}

/** Parses an option whose value is an e-mail address. */
function emailOption(text: string): string {
  const problem = emailProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}
