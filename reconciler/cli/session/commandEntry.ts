import type { Format } from '../../text/format.ts'
import type { CommandContext, CommandResult } from './context.ts'

/** Groups of options that several commands share. */
export type OptionGroup = 'manifests' | 'api' | 'state' | 'lock' | 'grace' | 'limits' | 'selection'

/** One command of the program: what its help shows, and where its code is, loaded only when it runs. */
export interface CommandEntry {
  /** One word, or `state` and another. */
  readonly name: string
  /** What it was called before; still understood, and not shown. */
  readonly formerName?: string
  /** Whether the list of commands shows it; when absent, it does. The help names the others below the list. */
  readonly isListed?: boolean
  /** Arguments as the help writes them: `<path>` is needed, `[path]` may be left out. */
  readonly args: readonly (readonly [name: string, description: string])[]
  readonly summary: string
  readonly examples: readonly string[]
  readonly groups: readonly OptionGroup[]
  /** What --format may name; without it there is text, and JSON with --json. */
  readonly formats?: readonly Format[]
  /** Options of this command alone. */
  readonly options?: readonly (readonly [flags: string, description: string])[]
  readonly load: () => Promise<(args: readonly string[], context: CommandContext) => Promise<CommandResult>>
}

/** The argument of commands that work on manifests. */
export const PATH = [['<path>', 'folder of manifests, or one file']] as const
/** Options of commands that compare manifests with the services, and of those that also write. */
export const LOOKING = ['manifests', 'selection', 'api', 'state', 'grace'] as const
export const WRITING = [...LOOKING, 'lock'] as const
/** Who is recorded as the author of an approval or a suspension. */
export const ACTOR = ['--actor <name>', 'name to record (default: the system user)'] as const
