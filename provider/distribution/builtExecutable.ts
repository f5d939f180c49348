import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Path of the provider's executable, which is built into the same folder as this program. Throws an Error with advice
 * when it is missing.
 */
export function builtExecutable(): string {
  const executable = join(dirname(fileURLToPath(import.meta.url)), 'terraform-provider-pharos.cjs')
  if (!existsSync(executable)) throw new Error(`${executable} does not exist: run "npm run build" first`)
  return executable
}

/** Folder of the provider's reference in the package of this program. */
export function builtReference(): string {
  return join(dirname(fileURLToPath(import.meta.url)), '../docs/provider')
}
