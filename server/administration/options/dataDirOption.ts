import { type Command, InvalidArgumentError, Option } from 'commander'
import { VARIABLES } from './configuration.ts'

/** Options of every subcommand. */
export interface DataDirOptions {
  readonly dataDir: string
  readonly json: boolean
}

/** Adds `--data-dir` and `--json` to `command`. */
export function addDataDir(command: Command): Command {
  return command.addOption(dataDirOption()).option('--json', 'print JSON', false)
}

/** The option that names the data folder. */
export function dataDirOption(): Option {
  return new Option('--data-dir <dir>', 'folder of the database')
    .env(VARIABLES.dataDir)
    .argParser(readGiven)
    .makeOptionMandatory()
}

/** `text` unless it is empty, as from a variable that a script forgot to set: most programs then use a default. */
export function readGiven(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('must not be empty')
}
