import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { StrictCommand } from '../../api/runtime/strictCommand.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { EXIT } from '../run/exitCode.ts'
import type { Streams } from '../text/output.ts'
import { COMMANDS } from './commandTable.ts'
import { replacementIn } from './replacedSpellings.ts'
import { runCommand } from './runCommand.ts'
import type { CommandEntry } from './session/commandEntry.ts'
import type { Interruption } from './session/interruption.ts'
import { EVERYWHERE, OPTIONS } from './session/optionGroups.ts'
import type { CommandOptions } from './session/settings.ts'

const EXAMPLES_HELP = `
More commands:
  pharos import               create manifests from the configuration of another tool
  pharos lint                 check manifests against the rules of .pharos-lint.yaml
  pharos schema               print the JSON Schema of manifests, for editors
  pharos completion           print the completion script of a shell

Examples:
  pharos export --write monitoring/                  # services that exist, as manifests; then state adopt
  pharos validate monitoring/                        # offline check: errors with file, line and column
  pharos plan monitoring/ --state pharos.db          # what apply would do; changes nothing
  pharos apply monitoring/ --state pharos.db
  pharos drift monitoring/ --state pharos.db         # manual changes since the last apply
  pharos state status --state pharos.db              # which manifest has which service
  pharos apply --help                                # every command shows its options and examples`

const ENVIRONMENT_HELP = `
Environment:
  PHAROS_URL          address of the API, without /v1
  PHAROS_API_KEY      API key; not an option, which would show it in the process list
  PHAROS_API_KEYS     several keys of one organisation, separated by commas, to send faster
  PHAROS_CA_FILE      CA certificates (PEM) to trust instead of the default ones, as --ca-file
  HTTPS_PROXY, NO_PROXY
                      proxy for the API, and hosts to reach without it
  PHAROS_TIMEOUT      time limit of a command that talks to the API (default 1h), as --timeout
  PHAROS_STATE_KEY    key of the fingerprints of secrets in the state; without it, the file FILE.key
  PHAROS_GIT_TOKEN    token for a state in git over https
  PHAROS_SECRETS_DIR  folder of secret files (default /run/secrets)
  PHAROS_LISTEN, PHAROS_DATA_DIR, PHAROS_REPLICA
                      for the controller: override listen, dataDir and replica of its configuration
  NO_COLOR, FORCE_COLOR
                      no colours, or colours even if the output is not a terminal`

const EXIT_CODES_HELP = `
Exit codes:
  0  done, or nothing to do          4  changes are blocked by a safety limit
  1  could not run                   5  the state is locked by another run
  2  changes, drift or findings      6  manual decision required
  3  changes to some services failed 7  manifests are invalid
                                     8  a check of "pharos test" failed
  130, 143  interrupted; changes under way are finished and recorded`

/** Runs the command in `argv` (the form of process.argv) and resolves with its exit code. Never rejects for user errors. */
export async function runProgram(
  argv: readonly string[],
  streams: Streams,
  interruption: Interruption,
): Promise<number> {
  let exitCode: number = EXIT.converged
  const program = programOf(
    argv[2] === 'help' ? argv[3] : argv[2],
    async (entry, args, options) => {
      exitCode = await runCommand(entry.name, options, streams, interruption, async (context) =>
        (await entry.load())(args, context),
      )
    },
    streams,
  )
  try {
    await program.parseAsync([...argv])
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // 0 is for help and version; all others are errors of the command line.
    if (error.exitCode === 0) return EXIT.converged
    if (wantsJson(argv)) streams.stdout.write(`${usageDocument(error, argv)}\n`)
    return EXIT.couldNotRun
  }
}

type Run = (entry: CommandEntry, args: readonly string[], options: CommandOptions) => Promise<void>

/**
 * `word` is the first argument, or the one after "help": a mistyped command is compared with the commands that the help
 * does not list, too.
 */
function programOf(word: string | undefined, run: Run, { stdout, stderr }: Streams): Command {
  const isCommand = COMMANDS.some(
    ({ name, formerName }) => name.split(' ')[0] === word || formerName === word,
  )
  const isMistyped = word !== undefined && /^[^-]/.test(word) && word !== 'help' && !isCommand
  const program = new StrictCommand('pharos', replacementIn)
    .description('manages monitored services from YAML manifests')
    .version(packageJson.version)
    .showSuggestionAfterError()
    .addHelpText('after', `${EXAMPLES_HELP}\n${ENVIRONMENT_HELP}\n${EXIT_CODES_HELP}`)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
  for (const entry of COMMANDS) {
    const [group = '', name] = entry.name.split(' ')
    if (name === undefined)
      addCommand(program, entry, run, { hidden: entry.isListed === false && !isMistyped })
    else addCommand(groupOf(program, group), { ...entry, name }, (_entry, ...given) => run(entry, ...given))
    if (entry.formerName !== undefined)
      addCommand(program, { ...entry, name: entry.formerName }, run, { hidden: true })
  }
  return program
}

/** Summaries of groups of commands. */
const GROUPS: Readonly<Record<string, string>> = {
  state: 'inspect, correct and back up the state; adopt services; suspend changes',
}

function groupOf(program: Command, name: string): Command {
  const made = program.commands.find((one) => one.name() === name)
  if (made !== undefined) return made
  return program
    .command(name)
    .description(GROUPS[name] ?? '')
    .showSuggestionAfterError()
}

function addCommand(program: Command, entry: CommandEntry, run: Run, options?: { hidden: boolean }): void {
  const { name, summary } = entry
  const command = program
    .command(name, options)
    .description(summary)
    .addOption(new Option(...EVERYWHERE[0]).conflicts('format'))
    .option(...EVERYWHERE[1])
    .addHelpText('after', `\nExamples:\n${entry.examples.map((example) => `  ${example}`).join('\n')}`)
  if (entry.formats !== undefined) {
    const format = new Option('--format <format>', 'output format (default: text)')
    command.addOption(format.choices(entry.formats))
  }
  for (const [argument, description] of entry.args) command.argument(argument, description, givenValue)
  const shared = entry.groups.flatMap((group) => OPTIONS[group])
  for (const [flags, description] of [...shared, ...(entry.options ?? [])]) {
    if (flags.includes('<')) command.option(flags, description, optionValue)
    else command.option(flags, description)
  }
  command.action(() => run(entry, command.args, command.opts<CommandOptions>()))
}

/** Rejects the value of an unset variable. */
function givenValue(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty: is a variable not set?')
  return value
}

/** Rejects a missing value: the next option in its place, or an unset variable. */
function optionValue(value: string): string {
  givenValue(value)
  if (value.startsWith('--')) throw new InvalidArgumentError('Its value is missing.')
  return value
}

/** Whether an invalid command line asks for JSON. */
function wantsJson(argv: readonly string[]): boolean {
  const format = argv.indexOf('--format')
  return (
    ['--json', '--format=json'].some((one) => argv.includes(one)) ||
    (format >= 0 && argv[format + 1] === 'json')
  )
}

function usageDocument(error: CommanderError, [, , first = '', second = '']: readonly string[]): string {
  const commands = COMMANDS.flatMap(({ name, formerName = name }) => [name, formerName])
  const names = [...commands, ...Object.keys(GROUPS)]
  const command = [`${first} ${second}`, first].find((words) => names.includes(words)) ?? null
  const replacement = replacementIn(error.message)
  const message = `${error.message.replace(/^error: /, '')}${replacement === undefined ? '' : `: ${replacement}`}`
  const document = { command, exitCode: EXIT.couldNotRun, error: { code: 'E_USAGE', message } }
  return JSON.stringify(document, null, 2)
}
