import { readFileSync } from 'node:fs'
import { formatPath } from '../../../api/contract/problem.ts'
import type { ManifestPath } from '../../manifest/read/position.ts'
import { decodeUtf8 } from '../../manifest/read/utf8Text.ts'
import { ConfigError } from './configError.ts'
import type { SecretReference } from './fields.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A part of the configuration with secrets in clear in place of references. */
export type InClear<Config> = Config extends SecretReference
  ? string
  : Config extends object
    ? { readonly [Field in keyof Config]: InClear<Config[Field]> }
    : Config

/** All references to secrets in `value`; a search, so that new sections need no change here. */
export function referencesIn(value: unknown): readonly SecretReference[] {
  if (typeof value !== 'object' || value === null) return []
  return isReference(value) ? [value] : Object.values(value).flatMap(referencesIn)
}

function isReference(value: object): value is SecretReference {
  const [name = '', ...others] = Object.keys(value)
  return others.length === 0 && ['env', 'file'].includes(name) && typeof Reflect.get(value, name) === 'string'
}

/** `config` with a secret of this machine in place of each reference. Throws ConfigError. */
export function inClear<Config>(config: Config, env: Environment): InClear<Config> {
  // True because only references are replaced.
  return resolvedIn(config, [], env) as InClear<Config>
}

function resolvedIn(value: unknown, path: ManifestPath, env: Environment): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isReference(value)) return resolved(value, formatPath(path), env)
  if (Array.isArray(value)) return value.map((item, index) => resolvedIn(item, [...path, index], env))
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([name, field]) => [name, resolvedIn(field, [...path, name], env)]))
}

function resolved(reference: SecretReference, what: string, env: Environment): string {
  if ('env' in reference) {
    const value = env[reference.env]
    if (value !== undefined && value !== '') return value
    throw new ConfigError(`${what} is in the environment variable ${reference.env}, which is not set`)
  }
  try {
    const decoded = decodeUtf8(readFileSync(reference.file))
    const value = 'text' in decoded ? decoded.text.replace(/\r?\n$/, '') : ''
    if (value !== '') return value
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new ConfigError(`${what} is in the file ${reference.file}, which cannot be read (${error.code})`)
  }
  throw new ConfigError(`${what} is in the file ${reference.file}, which is empty or not UTF-8`)
}
