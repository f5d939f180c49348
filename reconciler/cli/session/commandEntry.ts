import type { Format } from '../../text/format.ts'
import type { CommandContext, CommandResult } from './context.ts'

/** Groups of options that several commands share. */
export type OptionGroup = 'manifests' | 'api' | 'state' | 'lock' | 'grace' | 'limits'

/** One command of the program: what its help shows, and where its code is, loaded only when it runs. */
export interface CommandEntry {
  /** One word, or `state` and another. */
  readonly name: string
  /** What it was called before; still understood, and not shown. */
  readonly formerName?: string
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
