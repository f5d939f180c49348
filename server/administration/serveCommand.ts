import { type Command, InvalidArgumentError, Option } from 'commander'
import { pino } from 'pino'
import { keyBuckets } from '../http/rateLimit.ts'
import { type Program, startProgram } from '../program.ts'
import { createLog } from '../requestLog.ts'
import type { KeySource } from '../secrets/keyring.ts'
import { monotonicMs, systemEnvironment } from '../systemEnvironment.ts'
import { LOG_LEVELS, MASTER_KEY_VARIABLE, VARIABLES } from './configuration.ts'
import { dataDirOption, readGiven } from './dataDirOption.ts'
import { keySourceOf, masterKeyOption } from './masterKeyOption.ts'
import type { Write } from './output.ts'

interface ServeOptions {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly adminPort?: number
  readonly masterKeyFile?: string
  readonly allowRanges: readonly string[]
  readonly logLevel: string
}

/** Adds `serve`, which runs until SIGTERM or SIGINT. `environment` is process.env. */
export function addServeCommand(
  program: Command,
  write: Write,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  program
    .command('serve')
    .description('answer the API until SIGTERM or SIGINT')
    .addOption(dataDirOption())
    .addOption(
      portOption('--port <port>', 'port of the API, 0 for any free one', VARIABLES.port).default(7171),
    )
    .addOption(
      // An empty one would be every address of the machine.
      new Option('--host <host>', 'address to listen on')
        .env(VARIABLES.host)
        .argParser(readGiven)
        .default('127.0.0.1'),
    )
    .addOption(
      portOption('--admin-port <port>', 'port of /healthz, /readyz and /metrics', VARIABLES.adminPort),
    )
    .addOption(masterKeyOption())
    .addOption(
      new Option('--allow-ranges <ranges>', 'private ranges that may be checked, such as 10.0.0.0/8')
        .env(VARIABLES.allowRanges)
        .argParser((text: string) => text.split(','))
        .default([], 'none'),
    )
    .addOption(
      new Option('--log-level <level>', 'least that is logged to stderr')
        .env(VARIABLES.logLevel)
        .choices([...LOG_LEVELS])
        .default('info'),
    )
    .addHelpText(
      'after',
      `\nThe master key may also be given as ${MASTER_KEY_VARIABLE}, 64 hexadecimal digits.`,
    )
    .action(async (options: ServeOptions) => {
      await serve(options, keySourceOf(options, environment), write)
    })
}

function portOption(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable).argParser((text: string) => {
    const port = Number(text)
    if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
    throw new InvalidArgumentError('must be a whole number from 0 to 65535')
  })
}

async function serve(options: ServeOptions, source: KeySource, write: Write): Promise<void> {
  const destination = pino.destination({ fd: 2, sync: true })
  const log = createLog(destination, options.logLevel)
  const { dataDir, host, port, adminPort = null, allowRanges: allowedRanges } = options
  const program = await startProgram({
    dataDir,
    host,
    port,
    adminPort,
    allowedRanges,
    keySource: source,
    environment: systemEnvironment,
    spendRequest: keyBuckets(monotonicMs),
    log,
  })
  const stopped = stopOnSignal(program)
  write(`listening on ${program.url}\n`)
  if (program.adminUrl !== null) write(`admin on ${program.adminUrl}\n`)
  await stopped
}

function stopOnSignal(program: Program): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      process.off('SIGTERM', stop).off('SIGINT', stop)
      program.close().then(resolve, reject)
    }
    process.on('SIGTERM', stop).on('SIGINT', stop)
  })
}
