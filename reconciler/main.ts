import { Command, CommanderError } from 'commander'
import { EXIT } from './cli/exitCode.ts'
import { interruptionOf } from './cli/interruption.ts'
import { type CommandContext, type CommandResult, runCommand } from './cli/runCommand.ts'
import type { CommandOptions } from './cli/settings.ts'

const VERSION = '0.1.0'

const ENVIRONMENT_HELP = `
Environment:
  PHAROS_URL          address of the API, without /v1
  PHAROS_API_KEY      API key; there is no option for it, so that it stays out of the list of processes
  PHAROS_STATE_KEY    key for the marks of secrets in the state; without it, the file FILE.key
  PHAROS_SECRETS_DIR  folder of secret files (default /run/secrets)
  NO_COLOR            no colours`

const EXIT_CODES_HELP = `
Exit codes:
  0  done, or nothing to do          4  a brake holds changes back: approval needed
  1  could not run                   5  another run holds the state
  2  changes pending, drift found    6  a person has to decide
  3  some services were not done     7  manifests are invalid
  130, 143  interrupted; what was begun is finished and recorded`

/** One command of the program: what commander shows, and where its code is, loaded only when it runs. */
interface CommandEntry {
  readonly name: 'validate' | 'plan' | 'apply' | 'drift'
  readonly summary: string
  readonly examples: string
  readonly isOnline: boolean
  readonly load: () => Promise<(path: string, context: CommandContext) => Promise<CommandResult>>
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'validate',
    summary: 'check manifests, without network and without secrets',
    examples: '  pharos validate monitoring/\n  pharos validate monitoring/ --json | jq .problems',
    isOnline: false,
    load: async () => (await import('./cli/validateCommand.ts')).validateCommand,
  },
  {
    name: 'plan',
    summary: 'show what apply would do, field by field',
    examples:
      '  pharos plan monitoring/ --state pharos.db\n  pharos plan monitoring/ --state pharos.db --detailed-exitcode   # 2 when there are changes',
    isOnline: true,
    load: async () => (await import('./cli/planCommand.ts')).planCommand,
  },
  {
    name: 'apply',
    summary: 'make the services as the manifests say',
    examples:
      '  pharos apply monitoring/ --state pharos.db\n  pharos apply monitoring/ --state pharos.db --approve 5e0c6f2d9a417b38   # the digest that plan shows',
    isOnline: true,
    load: async () => (await import('./cli/applyCommand.ts')).applyCommand,
  },
  {
    name: 'drift',
    summary: 'show what was changed outside since the last apply; exits 2 when something was',
    examples: '  pharos drift monitoring/ --state pharos.db || notify-the-team',
    isOnline: true,
    load: async () => (await import('./cli/driftCommand.ts')).driftCommand,
  },
]

async function main(argv: readonly string[]): Promise<number> {
  const interruption = interruptionOf(process)
  const streams = { stdout: process.stdout, stderr: process.stderr, env: process.env }
  let exitCode: number = EXIT.converged
  const program = programOf(async (entry, path, options) => {
    exitCode = await runCommand(entry.name, options, streams, interruption, async (context) =>
      (await entry.load())(path, context),
    )
  })
  try {
    await program.parseAsync([...argv])
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version were asked for; everything else is a mistake on the command line.
    if (error.exitCode === 0) return EXIT.converged
    if (argv.includes('--json')) writeUsageDocument(error)
    return EXIT.couldNotRun
  }
}

function programOf(
  run: (entry: CommandEntry, path: string, options: CommandOptions) => Promise<void>,
): Command {
  const program = new Command('pharos')
    .description('Keeps monitored services as YAML manifests say.')
    .version(VERSION)
    .showSuggestionAfterError()
    .showHelpAfterError(`(there are: ${COMMANDS.map(({ name }) => name).join(', ')}; see "pharos --help")`)
    .addHelpText('after', `${ENVIRONMENT_HELP}\n${EXIT_CODES_HELP}`)
    .exitOverride()
  for (const entry of COMMANDS) {
    const command = program
      .command(entry.name)
      .summary(entry.summary)
      .description(`${entry.summary[0]?.toUpperCase()}${entry.summary.slice(1)}.`)
      .argument('<path>', 'folder of manifests, or one file')
      .option('--json', 'print one JSON document instead of text')
      .option('--secrets-dir <dir>', 'folder from which secret files are read')
      .option('--allow-inline-secrets', 'accept { value: …, sensitive: true } in manifests')
      .addHelpText('after', `\nExamples:\n${entry.examples}`)
      .action((path: string, options: CommandOptions) => run(entry, path, options))
    if (entry.isOnline) addOnlineOptions(command, entry.name)
  }
  return program
}

function addOnlineOptions(command: Command, name: CommandEntry['name']): void {
  command
    .option('--state <file>', 'what was applied before: an SQLite file, made by the first apply')
    .option('--url <url>', 'address of the API (default: PHAROS_URL)')
    .option(
      '--create-grace <duration>',
      'how long a creation without an answer may still take effect (default: 60s)',
    )
  if (name === 'plan') command.option('--detailed-exitcode', 'exit 2 when there are changes')
  if (name === 'apply') command.option('--approve <digest>', 'let through what the brakes hold back')
}

function writeUsageDocument(error: CommanderError): void {
  const message = error.message.replace(/^error: /, '')
  const document = { exitCode: EXIT.couldNotRun, error: { code: 'E_USAGE', message } }
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
}

// Whoever reads our output may stop early, as head does: that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.converged)
  throw error
})

process.exitCode = await main(process.argv)
