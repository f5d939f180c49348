import { type Command, InvalidArgumentError, Option } from 'commander'
import { readOutgoing } from '../../api/network/outgoing.ts'
import { readNamedFile } from '../../api/runtime/readNamedFile.ts'
import { StrictCommand } from '../../api/runtime/strictCommand.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { serverAddress } from '../agent/serverAddress.ts'
import { isAgentToken } from '../protocol/agentToken.ts'
import { proxyOption } from './proxyOption.ts'
import { readRanges } from './readRanges.ts'
import { runAgent } from './runAgent.ts'
import { wholeNumber } from './wholeNumber.ts'

/** The only value without a flag, because every user of the machine can read a command line. */
const TOKEN_VARIABLE = 'PHAROS_AGENT_TOKEN'
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const MIB = 1_024 * 1_024

interface Options {
  readonly server: URL
  readonly tokenFile?: string
  readonly caFile?: string
  readonly allowRanges: readonly string[]
  readonly checkProxy?: string
  readonly spool?: string
  readonly spoolMax: number
  readonly metricsPort?: number
  readonly logLevel: string
}

/** The parts of the process that the command line uses. */
export interface CommandLineParts {
  readonly write: (text: string) => void
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * The command line of pharos-agent, which runs until a signal ends it. Rejects when it cannot start, with a
 * CommanderError for an invalid command line.
 */
export function commandLine({ write, environment }: CommandLineParts): Command {
  const command = new StrictCommand('pharos-agent')
  return command
    .description(
      'run the checks of a region for a pharos-server on another machine, until SIGTERM, SIGINT or SIGHUP',
    )
    .version(packageJson.version)
    .configureOutput({ writeOut: write })
    .exitOverride()
    .addOption(
      new Option('--server <url>', 'agent port of the server, such as https://pharos.example:7175')
        .env('PHAROS_AGENT_SERVER')
        .argParser(serverOption)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--token-file <file>', 'file with the token that "pharos-server agent create" printed').env(
        'PHAROS_AGENT_TOKEN_FILE',
      ),
    )
    .addOption(
      new Option('--ca-file <file>', 'CA certificates (PEM) to trust instead of the default ones').env(
        'PHAROS_AGENT_CA_FILE',
      ),
    )
    .addOption(
      new Option(
        '--allow-ranges <ranges>',
        'private address ranges that checks may reach, such as 10.0.0.0/8',
      )
        .env('PHAROS_ALLOW_RANGES')
        .argParser(readRanges)
        .default([], 'none'),
    )
    .addOption(proxyOption(command, '--check-proxy', 'URL of a proxy for all checks', 'PHAROS_CHECK_PROXY'))
    .addOption(
      new Option('--spool <dir>', 'folder for results while the server is away (default: memory only)').env(
        'PHAROS_AGENT_SPOOL',
      ),
    )
    .addOption(
      new Option('--spool-max <MiB>', 'maximum size of the spool; the oldest results are dropped first')
        .env('PHAROS_AGENT_SPOOL_MAX')
        .argParser(wholeNumber(1, 1_048_576))
        .default(64),
    )
    .addOption(
      new Option('--metrics-port <port>', 'port of /metrics on 127.0.0.1, 0 for any free one (default: none)')
        .env('PHAROS_AGENT_METRICS_PORT')
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option('--log-level <level>', 'minimum log level; logs go to stderr')
        .env('PHAROS_LOG_LEVEL')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { server, allowRanges: allowedRanges, checkProxy, spool, metricsPort = null, logLevel } = options
      process.exitCode = await runAgent({
        ...{ server, allowedRanges, checkProxy, metricsPort, logLevel, write },
        token: tokenOf(options.tokenFile, environment[TOKEN_VARIABLE]),
        spool: spool === undefined ? null : { folder: spool, bytesMax: options.spoolMax * MIB },
        outgoing: readOutgoing(environment, options.caFile, '--ca-file'),
      })
    })
}

const HELP = `
The token may also be given as ${TOKEN_VARIABLE}. The agent never writes it anywhere. HTTPS_PROXY and NO_PROXY
apply to the connection to the server. Checks use only the proxy of --check-proxy.

Exit codes: 0 stopped by a signal, 1 could not start, 3 the server refuses the token.`

function serverOption(text: string): URL {
  try {
    return serverAddress(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** The token. Errors never show any part of it. */
function tokenOf(file: string | undefined, text: string | undefined): string {
  if (file === undefined && (text === undefined || text === '')) {
    throw new Error(`no token: give --token-file, or ${TOKEN_VARIABLE}`)
  }
  const token = file === undefined ? (text ?? '') : readNamedFile(file, '--token-file')
  if (isAgentToken(token.trim())) return token.trim()
  const where = file === undefined ? TOKEN_VARIABLE : file
  throw new Error(`${where} contains no agent token: "pharos-server agent create" prints one`)
}
