import type { Command } from 'commander'

/**
 * The result of `read` for the value of `flag`. When `read` throws, ends `command` with that error alone: commander would
 * quote the value, and a misspelt URL may contain a password.
 */
export function readPrivateOption<Value>(command: Command, flag: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return command.error(`error: option '${flag}' ${reason}`, { code: 'pharos.invalidValue' })
  }
}
