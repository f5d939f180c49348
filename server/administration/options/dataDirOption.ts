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

/** Parses a value that must not be empty: a script may have forgotten to set a variable. */
export function readGiven(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('must not be empty')
}
