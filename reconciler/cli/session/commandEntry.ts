import type { Format } from '../../text/format.ts'
import type { CommandContext, CommandResult } from './context.ts'
import type { OptionGroup } from './optionGroups.ts'

/** One command of the program: its help, and its code, loaded only when it runs. */
export interface CommandEntry {
  /** One word, or `state` and another word. */
  readonly name: string
  /** Its earlier name; still accepted, but not shown. */
  readonly formerName?: string
  /** Whether the list of commands shows it (default: true). The help names the others below the list. */
  readonly isListed?: boolean
  /** Arguments in the notation of the help: `<path>` is required, `[path]` optional. */
  readonly args: readonly (readonly [name: string, description: string])[]
  readonly summary: string
  readonly examples: readonly string[]
  readonly groups: readonly OptionGroup[]
  /** Values of --format; without it only text, and JSON with --json. */
  readonly formats?: readonly Format[]
  /** Options of this command alone. */
  readonly options?: readonly (readonly [flags: string, description: string])[]
  readonly load: () => Promise<Command>
}

/** Runs a command with its arguments. Rejects with why it could not run. */
export type Command = (args: readonly string[], context: CommandContext) => Promise<CommandResult>

/** The argument of commands that work on manifests. */
export const PATH_ARGUMENT = [['[path]', 'folder of manifests, or one file (default: .)']] as const
/** Options of commands that compare manifests with the services, and of those that also write. */
export const PLAN_OPTIONS = ['manifests', 'selection', 'api', 'state', 'grace'] as const
export const APPLY_OPTIONS = [...PLAN_OPTIONS, 'lock'] as const
/** The option for the author of an approval or a suspension. */
export const ACTOR_OPTION = ['--actor <name>', 'name to record (default: the system user)'] as const
