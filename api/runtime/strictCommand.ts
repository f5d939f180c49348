import { Command, type Help, type Option, type ParseOptions } from 'commander'

/**
 * A command line that names a misspelt option or command first. Commander itself reports "--orgg" as a missing "--org",
 * and prints the whole help for "help" with an unknown command. Lists of commands show descriptions as they are written;
 * the help of a command starts with its description as a sentence.
 */
export class StrictCommand extends Command {
  /** A method of commander, which its types leave out. */
  declare readonly unknownOption: (flag: string) => void

  override createCommand(name?: string): StrictCommand {
    return new StrictCommand(name)
  }

  override createHelp(): Help {
    return Object.assign(super.createHelp(), {
      commandDescription: (command: Command) => sentence(command.description()),
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

  /** `argv` and `options` as commander has them; "help" with an unknown command is parsed as that command. */
  override parseAsync(argv: readonly string[] = process.argv, options?: ParseOptions): Promise<this> {
    const start = options?.from === 'user' ? 0 : 2
    const [help, name] = argv.slice(start)
    const isKnown = this.commands.some((one) => one.name() === name)
    const isUnknown =
      help === 'help' && name !== undefined && name !== 'help' && !name.startsWith('-') && !isKnown
    const parsed = isUnknown && this.commands.length > 0 ? argv.toSpliced(start, 1) : argv
    return super.parseAsync(parsed, options)
  }
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`
}
