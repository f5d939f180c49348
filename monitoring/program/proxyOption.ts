import { type Command, Option } from 'commander'
import { proxyAt } from '../../api/network/proxy.ts'
import { readPrivateOption } from '../../api/runtime/readPrivateOption.ts'

/** The option of `command` with the URL of a proxy, which may contain a password. */
export function proxyOption(command: Command, flag: string, description: string, variable: string): Option {
  return new Option(`${flag} <url>`, `${description}; visible in the process list`)
    .env(variable)
    .argParser((text) =>
      readPrivateOption(command, flag, () => {
        proxyAt(text, variable)
        return text
      }),
    )
}
