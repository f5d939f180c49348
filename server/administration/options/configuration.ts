import { Option } from 'commander'

/** The only value without a flag: every user of the machine can read a command line. */
export const MASTER_KEY_VARIABLE = 'PHAROS_MASTER_KEY'

/** Log levels, most verbose first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The environment variable that replaces the option `name`, such as PHAROS_ADMIN_PORT for admin-port. Pure. */
export function variableOf(name: string): string {
  return `PHAROS_${name.toUpperCase().replaceAll('-', '_')}`
}

/** An option that an environment variable replaces: by default the one that is named after it. A flag wins. */
export function setting(flags: string, description: string, variable?: string): Option {
  const option = new Option(flags, description)
  return option.env(variable ?? variableOf(option.name()))
}
