import { type Command, InvalidArgumentError } from 'commander'
import { AGENT_TOKEN_BYTES, AGENT_TOKEN_PREFIX } from '../../monitoring/protocol/agentToken.ts'
import { hashKey } from '../domain/apiKeys.ts'
import { isRegionCode } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './output.ts'
import { engineOf, withExistingStore } from './withStore.ts'

/** Longest name of an agent token (code points). Gap G35. */
const NAME_CHARS_MAX = 200

/** Adds `agent create`, `agent list` and `agent revoke`: the tokens of agents, each for one region. */
export function addAgentCommands(program: Command, write: Write): void {
  const agent = program.command('agent').description('tokens of agents, which check a region from elsewhere')
  addDataDir(
    agent
      .command('create')
      .description(
        'create a token for the agents of a region; from its first token on, only agents check the region',
      ),
  )
    .requiredOption('--region <code>', 'region that the agents check', regionOption)
    .requiredOption('--name <name>', 'name for the list of tokens', readableOption(NAME_CHARS_MAX))
    .action(async ({ dataDir, json, region, name }: DataDirOptions & { region: string; name: string }) => {
      const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(AGENT_TOKEN_BYTES).toString('hex')}`
      const id = systemEnvironment.uuid()
      const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: systemEnvironment.nowMs() }
      await withExistingStore(engineOf(dataDir), (store) =>
        store.createAgentToken({ id, region, name, ...stored }),
      )
      present(write, json, { id, region, name, token }, token)
      if (!json) agent.configureOutput().writeErr?.(`only agents check ${region} from now on\n`)
    })
  addDataDir(agent.command('list').description('list the tokens of agents')).action(
    async ({ dataDir, json }: DataDirOptions) => {
      const tokens = await withExistingStore(engineOf(dataDir), (store) => store.listAgentTokens())
      const rows = tokens.map(({ id, region, name, last4, createdAt, revokedAt }) => [
        ...[id, region, name, last4, createdAt],
        revokedAt ?? '-',
      ])
      present(write, json, tokens, table(['ID', 'REGION', 'NAME', 'LAST4', 'CREATED', 'REVOKED'], rows))
    },
  )
  addDataDir(agent.command('revoke').description('revoke a token; its agents stop within a second'))
    .requiredOption('--id <id>', 'id of the token, from "agent list"')
    .action(async ({ dataDir, json, id }: DataDirOptions & { id: string }) => {
      await withExistingStore(engineOf(dataDir), (store) =>
        store.revokeAgentToken(id, systemEnvironment.nowMs()),
      )
      present(write, json, { id }, `revoked ${id}`)
    })
}

function regionOption(code: string): string {
  if (isRegionCode(code)) return code
  throw new InvalidArgumentError(`there is no region ${code}: "pharos-server region list" shows them`)
}
