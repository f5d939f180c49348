import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { emailProblem } from '../domain/accounts/emailAddress.ts'
import { hashToken, newToken, OPERATOR_LINK_MS } from '../domain/accounts/sessions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { consoleUrlOption } from './options/consoleListening.ts'
import { present, type Write } from './output.ts'
import { engineOf, withExistingStore } from './withStore.ts'

/** Where the console is when no address is given: the port that the documentation uses. */
const CONSOLE_URL = 'http://localhost:7173'

interface InviteOptions extends DataDirOptions {
  readonly org: string
  readonly email: string
  readonly consoleUrl: string
}

/** Adds `owner invite`. */
export function addOwnerCommands(program: Command, write: Write): void {
  const owner = program.command('owner').description('owners of organisations, who use the console')
  addDataDir(
    owner.command('invite').description('print a link, valid 24 hours, that makes a person an owner'),
  )
    .requiredOption('--org <id>', 'organisation')
    .requiredOption('--email <address>', 'e-mail address of the person', emailOption)
    .addOption(consoleUrlOption().default(CONSOLE_URL))
    .action(async ({ dataDir, json, org: orgId, email, consoleUrl }: InviteOptions) => {
      const token = newToken(systemEnvironment.randomBytes)
      const nowMs = systemEnvironment.nowMs()
      const invitation = {
        ...{ tokenHash: hashToken(token), orgId, email, role: 'owner' as const },
        expiresAtMs: nowMs + OPERATOR_LINK_MS,
      }
      await withExistingStore(engineOf(dataDir), (store) => store.invite(invitation, { kind: 'cli' }, nowMs))
      const url = `${consoleUrl}/invite/${token}`
      present(write, json, { url }, url)
    })
}

/** Parses an option whose value is an e-mail address. */
export function emailOption(text: string): string {
  const problem = emailProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}
