import type { Option } from 'commander'
import { defaultKeyFile, type KeySource } from '../../secrets/keyring.ts'
import { MASTER_KEY_VARIABLE, setting } from './configuration.ts'
import type { DatabaseOptions } from './databaseOption.ts'
import { readGiven } from './readGiven.ts'

/** Options of a command that needs the master key. */
export interface MasterKeyOptions extends DatabaseOptions {
  readonly masterKeyFile?: string
}

/** The flag for the file of the master key. */
export function masterKeyOption(): Option {
  return setting(
    '--master-key-file <file>',
    'file of the master key (default: <data-dir>.master-key)',
  ).argParser(readGiven)
}

/** Source of the master key: the given file, the text of the variable, or the file beside the data folder. Throws when there is none of them. */
export function keySourceOf(
  { dataDir, masterKeyFile }: Pick<MasterKeyOptions, 'dataDir' | 'masterKeyFile'>,
  environment: Readonly<Record<string, string | undefined>>,
): KeySource {
  if (masterKeyFile !== undefined) return { kind: 'file', file: masterKeyFile }
  const text = environment[MASTER_KEY_VARIABLE]
  if (text !== undefined && text !== '') return { kind: 'text', text }
  if (dataDir !== undefined) return { kind: 'file', file: defaultKeyFile(dataDir) }
  throw new Error(
    `name the master key: --master-key-file, or its text as ${MASTER_KEY_VARIABLE}; "openssl rand -hex 32" creates one`,
  )
}
