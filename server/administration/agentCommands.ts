import { type Command, InvalidArgumentError } from 'commander'
import { AGENT_TOKEN_BYTES, AGENT_TOKEN_PREFIX } from '../../monitoring/protocol/agentToken.ts'
import { AGENT_COLUMNS, agentCells, shownAgentToken } from '../agents/agentStates.ts'
import { hashKey } from '../domain/apiKeys.ts'
import { isRegionCode } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Longest name of an agent token (code points). Gap G35. */
const NAME_CHARS_MAX = 200

/** Adds `agent create`, `agent list` and `agent revoke`: the tokens of agents, each for one region. */
export function addAgentCommands(program: Command, write: Write): void {
  const agent = program
    .command('agent')
    .description('tokens of agents, which run the checks of a region on other machines')
  addDatabase(
    agent
      .command('create')
      .description(
        'create a token for the agents of a region; once it has a token, only agents check the region',
      ),
  )
    .requiredOption('--region <code>', 'region that the agents check', regionOption)
    .requiredOption('--name <name>', 'name for the list of tokens', readableOption(NAME_CHARS_MAX))
    .action(async ({ json, region, name, ...place }: DatabaseOptions & { region: string; name: string }) => {
      const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(AGENT_TOKEN_BYTES).toString('hex')}`
      const id = systemEnvironment.uuid()
      const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: systemEnvironment.nowMs() }
      await inDatabase(place, (store) => store.createAgentToken({ id, region, name, ...stored }))
      present(write, json, { id, region, name, token }, token)
      if (!json) agent.configureOutput().writeErr?.(`only agents check ${region} from now on\n`)
    })
  addDatabase(
    agent
      .command('list')
      .description('list the tokens of agents, with the last reported status of their agents'),
  ).action(async ({ json, ...place }: DatabaseOptions) => {
    const stored = await inDatabase(place, (store) => store.listAgentTokens())
    const tokens = stored.map((token) => shownAgentToken(token, systemEnvironment.nowMs()))
    present(write, json, tokens, table(AGENT_COLUMNS, tokens.map(agentCells)))
  })
  addDatabase(agent.command('revoke').description('revoke a token; its agents stop within a second'))
    .requiredOption('--id <id>', 'id of the token, from "agent list"')
    .action(async ({ json, id, ...place }: DatabaseOptions & { id: string }) => {
      await inDatabase(place, (store) => store.revokeAgentToken(id, systemEnvironment.nowMs()))
      present(write, json, { id }, `revoked ${id}`)
    })
}

function regionOption(code: string): string {
  if (isRegionCode(code)) return code
  throw new InvalidArgumentError(`there is no region ${code}: "pharos-server region list" shows them`)
}
