import {
  bashCompletion,
  type CompletedCommand,
  fishCompletion,
  zshCompletion,
} from '../../render/completion.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import type { CommandEntry } from '../session/commandEntry.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { EVERYWHERE, OPTIONS } from '../session/optionGroups.ts'

const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** Prints the completion script of a shell for `commands`. */
export async function completionCommand(
  commands: readonly CommandEntry[],
  [shell = '']: readonly string[],
  { output }: CommandContext,
): Promise<CommandResult> {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell]?.(commands.map(completedOf)) : undefined
  if (script === undefined)
    throw new UsageError(`there is no completion for ${shell}, only for bash, zsh and fish`)
  output.result(script)
  return { exitCode: EXIT.converged, document: { shell, script } }
}

/** Values of first arguments. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'state adopt': ['plan', 'apply'],
  completion: Object.keys(SCRIPTS),
}

function completedOf(entry: CommandEntry): CompletedCommand {
  const { name, summary, args, groups, formats = [], options = [] } = entry
  const flags = [
    ...EVERYWHERE,
    ...(formats.length === 0 ? [] : [['--format <format>', 'output format'] as const]),
    ...groups.flatMap((group) => OPTIONS[group]),
    ...options,
    ['--help', 'show help'] as const,
  ]
  const [argument = ''] = args[0] ?? []
  return {
    name,
    summary,
    options: flags.map(([text, description]) => {
      const [long = '', value = ''] = text.split(' ')
      return { long, description, values: long === '--format' ? formats : valuesOf(value) }
    }),
    argument:
      WORDS[name] ??
      (/^[<[](?:path|file)[>\]]$/.test(argument)
        ? 'files'
        : /^<(?:name|scope)>$/.test(argument)
          ? 'names'
          : []),
  }
}

function valuesOf(value: string): CompletedCommand['options'][number]['values'] {
  if (value === '') return 'none'
  return /^<(?:dir|file|place|path)>$/.test(value) ? 'files' : []
}
