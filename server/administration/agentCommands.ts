import { type Command, InvalidArgumentError } from 'commander'
import { AGENT_TOKEN_BYTES, AGENT_TOKEN_PREFIX } from '../../monitoring/protocol/agentToken.ts'
import { type ShownAgentToken, shownAgentToken } from '../agents/agentStates.ts'
import { hashKey } from '../domain/apiKeys.ts'
import { isRegionCode } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { databaseCommand, inStore } from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { note, table } from './text/output.ts'

/** Longest name of an agent token (code points). Gap G35. */
const NAME_CHARS_MAX = 200

interface CreateOptions extends DatabaseOptions {
  readonly region: string
  readonly name: string
}

/** Adds `agent create`, `agent list` and `agent revoke`: the tokens of agents, each for one region. */
export function addAgentCommands(program: Command): void {
  const agent = program
    .command('agent')
    .description('tokens of agents, which run the checks of a region on other machines')
  databaseCommand(
    agent,
    'create',
    'create a token for the agents of a region; once it has a token, only agents check the region',
  )
    .requiredOption('--region <code>', 'region that the agents check', regionOption)
    .requiredOption('--name <name>', 'name for the list of tokens', readableOption(NAME_CHARS_MAX))
    .action(
      inStore(async (store, { region, name, json }: CreateOptions, command) => {
        const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(AGENT_TOKEN_BYTES).toString('hex')}`
        const id = systemEnvironment.uuid()
        const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: systemEnvironment.nowMs() }
        await store.createAgentToken({ id, region, name, ...stored })
        if (!json) note(command, `only agents check ${region} from now on`)
        return { value: { id, region, name, token }, text: token }
      }),
    )
  databaseCommand(
    agent,
    'list',
    'list the tokens of agents, with the last reported status of their agents',
  ).action(
    inStore(async (store) => {
      const nowMs = systemEnvironment.nowMs()
      const tokens = (await store.listAgentTokens()).map((token) => shownAgentToken(token, nowMs))
      return { value: tokens, text: agentTable(tokens) }
    }),
  )
  databaseCommand(agent, 'revoke', 'revoke a token; its agents stop within a second')
    .requiredOption('--id <id>', 'id of the token, from "agent list"')
    .action(
      inStore(async (store, { id }: DatabaseOptions & { readonly id: string }) => {
        await store.revokeAgentToken(id, systemEnvironment.nowMs())
        return { value: { id }, text: `revoked ${id}` }
      }),
    )
}

/** `tokens` as text. Pure. */
export function agentTable(tokens: readonly ShownAgentToken[]): string {
  return table(tokens, {
    ID: 'id',
    REGION: 'region',
    NAME: 'name',
    LAST4: 'last4',
    STATE: 'state',
    'LAST SEEN': 'lastSeenAt',
    VERSION: 'version',
    AGENTS: 'agents',
    CLOCK: ({ clockAheadMs: ms }) => (ms === null ? null : `${(ms / 1_000).toFixed(1)} s`),
    SPOOL: 'spooled',
    CHECKS: 'checksInFlight',
    CREATED: 'createdAt',
    REVOKED: 'revokedAt',
  })
}

function regionOption(code: string): string {
  if (isRegionCode(code)) return code
  throw new InvalidArgumentError(`there is no region ${code}: "pharos-server region list" shows them`)
}
