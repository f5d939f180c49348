import type { Command } from 'commander'

/**
 * What `read` returns for the value of `flag`. Ends `command` with its refusal otherwise, in which the library would repeat the
 * value: a URL that has a mistake has a password too.
 */
export function readPrivateOption<Value>(command: Command, flag: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return command.error(`error: option '${flag}' ${reason}`, { code: 'pharos.invalidValue' })
  }
}
