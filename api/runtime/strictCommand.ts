import { Command, type ErrorOptions, type Help, type Option, type ParseOptions } from 'commander'

/** The advice for the removed option or command that an error of commander names; `undefined` for none. */
type ReplacementIn = (message: string) => string | undefined

/**
 * A command line that names a misspelt option or command first. Commander itself reports "--orgg" as a missing "--org",
 * and prints the whole help for "help" with an unknown command, and the help of the group for "help" with a command of a
 * group. Every error ends with the names that exist, or the help to read. Lists of commands show descriptions as they
 * are written; the help of a command starts with its description as a sentence, and marks the options that it requires.
 */
export class StrictCommand extends Command {
  /** A method of commander, which its types leave out. */
  declare readonly unknownOption: (flag: string) => void
  readonly #replacementIn: ReplacementIn

  constructor(name?: string, replacementIn: ReplacementIn = () => undefined) {
    super(name)
    this.#replacementIn = replacementIn
  }

  override createCommand(name?: string): StrictCommand {
    return new StrictCommand(name, this.#replacementIn)
  }

  override createHelp(): Help {
    const help = super.createHelp()
    const described = help.optionDescription.bind(help)
    return Object.assign(help, {
      commandDescription: (command: Command) => sentence(command.description()),
      optionDescription: (option: Option) => {
        // Commander shows the default of a switch, which says nothing.
        const text = described(option).replace(/ \(default: false\)$/, '')
        return `${text}${option.mandatory ? ' (required)' : ''}`
      },
    })
  }

  /** Called by commander for each missing option that is required; ends with a CommanderError that says what it is. */
  missingMandatoryOptionValue({ flags, description, envVar }: Option): void {
    // Recognised options are not in `args`, and neither are their values.
    const unknown = this.args.find((argument) => /^-./.test(argument))
    if (unknown !== undefined) this.unknownOption(unknown)
    const variable = envVar === undefined ? '' : `, or ${envVar}`
    this.error(`error: required option '${flags}' not specified: ${description}${variable}`, {
      code: 'commander.missingMandatoryOptionValue',
    })
  }

  /** `message` and `options` as commander has them. */
  override error(message: string, options?: ErrorOptions): never {
    this.showHelpAfterError(`(${this.#replacementIn(message) ?? hint(this, message)})`)
    return super.error(message, options)
  }

  /**
   * `argv` and `options` as commander has them; "version" is parsed as --version, and "help" with a command as that
   * command with --help.
   */
  override parseAsync(argv: readonly string[] = process.argv, options?: ParseOptions): Promise<this> {
    const start = options?.from === 'user' ? 0 : 2
    const [help, ...words] = argv.slice(start)
    if (help === 'version') return super.parseAsync([...argv.slice(0, start), '--version', ...words], options)
    if (help !== 'help') return super.parseAsync(argv, options)
    return super.parseAsync([...argv.slice(0, start), ...helpRequest(this, words)], options)
  }
}

/** Arguments that print the help of the command that `words` name, or the error of the first unknown word. */
function helpRequest(program: Command, words: readonly string[]): readonly string[] {
  let command = program
  const path: string[] = []
  for (const word of words) {
    // Further words could run the command.
    if (command.commands.length === 0 || word === 'help' || word.startsWith('-')) break
    path.push(word)
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) return path
    command = next
  }
  return [...path, '--help']
}

/** What to try after an error of `command`. */
function hint(command: Command, message: string): string {
  const help = `see "${pathOf(command)} --help"`
  const [, option] = /unknown option '([^'=]+)/.exec(message) ?? []
  if (option !== undefined) {
    const owner = descendants(command).find(({ options }) => options.some(({ long }) => long === option))
    if (owner !== undefined) return `give ${option} after the command, as in "${pathOf(owner)} ${option}"`
    const options = command.createHelp().visibleOptions(command)
    return `there are: ${options.flatMap(({ long }) => long ?? []).join(', ')}; ${help}`
  }
  if (command.commands.length === 0) return help
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name())
  return `there are: ${names.filter((name) => name !== 'help').join(', ')}; ${help}`
}

/** The words of a command, such as `pharos state verify`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function descendants(command: Command): readonly Command[] {
  return command.commands.flatMap((one) => [one, ...descendants(one)])
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`
}
