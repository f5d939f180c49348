import { type Command, InvalidArgumentError } from 'commander'
import { ApiError } from '../../api/contract/apiError.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { emailProblem, foldedEmail } from '../domain/accounts/emailAddress.ts'
import { newLink, OPERATOR_LINK_MS } from '../domain/accounts/sessions.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { consoleUrlOption } from './options/listening.ts'
import { databaseCommand, inStore, listed, type OrgOptions, orgCommand } from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'

/** Default address of the console. */
const CONSOLE_URL = 'http://localhost:7173'

interface PersonOptions extends DatabaseOptions {
  readonly email: string
}
interface LinkOptions extends PersonOptions {
  readonly consoleUrl: string
}

/** Adds `owner invite`, `member list`, `member remove`, `person reset` and `session end-all`. */
export function addAccountCommands(program: Command): void {
  const owner = program.command('owner').description('owners of organisations, who use the console')
  withLink(orgCommand(owner, 'invite', 'print a link, valid 24 hours, that makes a person an owner')).action(
    inStore(async (store, { org: orgId, email, consoleUrl }: LinkOptions & OrgOptions) => {
      const { token, ...link } = newLink(systemEnvironment, OPERATOR_LINK_MS)
      const invitation = { ...link, orgId, email, role: 'owner' } as const
      await store.invite(invitation, OPERATOR, systemEnvironment.nowMs())
      return printedUrl(`${consoleUrl}/invite/${token}`)
    }),
  )
  addMemberCommands(program.command('member').description('members of organisations'))
  const person = program.command('person').description('people with an account')
  withLink(databaseCommand(person, 'reset', 'print a link, valid 24 hours, that sets a new password')).action(
    inStore(async (store, { email, consoleUrl }: LinkOptions) => {
      const { token, ...link } = newLink(systemEnvironment, OPERATOR_LINK_MS)
      await store.startReset({ ...link, email, by: OPERATOR, nowMs: systemEnvironment.nowMs() })
      return printedUrl(`${consoleUrl}/reset/${token}`)
    }),
  )
  const session = program.command('session').description('sessions of the console')
  withEmail(databaseCommand(session, 'end-all', 'sign a person out everywhere')).action(
    inStore(async (store, { email }: PersonOptions) => {
      const found = await store.personWithEmail(email)
      if (found === undefined)
        throw new ApiError(
          'not_found',
          `there is no person with the address ${email}: "pharos-server member list" shows those of an organisation`,
        )
      const ended = await store.endSessions(found.person.id, OPERATOR, systemEnvironment.nowMs())
      return { value: { ended }, text: `ended ${ended} ${ended === 1 ? 'session' : 'sessions'}` }
    }),
  )
}

function withEmail(command: Command): Command {
  return command.requiredOption('--email <address>', 'e-mail address of the person', emailOption)
}

function withLink(command: Command): Command {
  return withEmail(command).addOption(consoleUrlOption().default(CONSOLE_URL))
}

function printedUrl(url: string) {
  return { value: { url }, text: url }
}

function addMemberCommands(member: Command): void {
  orgCommand(member, 'list', 'list the members of an organisation').action(
    inStore(async (store, { org }: OrgOptions) => {
      const members = await store.listMembers(org)
      const value = members.map(({ personId: id, email, name, role, createdAt, seenAtMs }) => ({
        ...{ id, email, name, role, created_at: createdAt },
        last_seen_at: seenAtMs === null ? null : timestamp(seenAtMs),
      }))
      const columns = {
        ID: 'id',
        EMAIL: 'email',
        ROLE: 'role',
        'LAST SEEN': 'last_seen_at',
        NAME: 'name',
      } as const
      return listed(value, columns)
    }),
  )
  withEmail(
    orgCommand(member, 'remove', 'remove a person from an organisation, and end their sessions there'),
  ).action(
    inStore(async (store, { org: orgId, email }: PersonOptions & OrgOptions) => {
      const members = await store.listMembers(orgId)
      const found = members.find((one) => foldedEmail(one.email) === foldedEmail(email))
      if (found === undefined)
        throw new ApiError(
          'not_found',
          `the organisation has no member ${email}: "pharos-server member list" shows them`,
        )
      const nowMs = systemEnvironment.nowMs()
      await store.removeMember({ orgId, personId: found.personId, by: OPERATOR, nowMs })
      return { value: { email }, text: `removed ${email}` }
    }),
  )
}

/** Parses an option whose value is an e-mail address. */
function emailOption(text: string): string {
  const problem = emailProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}
