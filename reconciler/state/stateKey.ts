import { createHash, createHmac, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { CanonicalService, Fingerprint } from '../../api/contract/canonical.ts'
import { isGitLocation } from './git/gitRef.ts'
import { StateError } from './model/stateError.ts'

/** Name of the variable with the key of the fingerprints, in place of a key file. */
export const STATE_KEY_VARIABLE = 'PHAROS_STATE_KEY'
/** Minimum length of the key (characters). */
const KEY_CHARS_MIN = 32

/** The key of the fingerprints of secrets. It is never part of the state. */
export type StateKey = string

/**
 * Throws StateError when a new state at `statePath` would have no valid key: neither the `given` one of `source` nor
 * one in a file.
 */
export function requireKeyPlace(
  statePath: string,
  given: string | undefined,
  source = STATE_KEY_VARIABLE,
): void {
  if (given !== undefined && given !== '') checked(given, source)
  // A key file beside a state in git would be visible to every reader of the state.
  else if (isGitLocation(statePath))
    throw new StateError(
      `a state in git needs ${STATE_KEY_VARIABLE}, the key of the fingerprints of secrets: set it to ${KEY_CHARS_MIN} characters or more, for example with "openssl rand -hex 32"`,
    )
}

/**
 * The key of the state at `statePath`: `fromEnvironment`, or from the file beside the state, which `create` creates
 * with mode 0600 if it is missing. `undefined` when there is none.
 *
 * Throws StateError when the key is too short or its file can be read by others.
 */
export function stateKeyFor(
  statePath: string,
  fromEnvironment: string | undefined,
  create: boolean,
): { readonly value: StateKey | undefined; readonly isNew: boolean } {
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return { value: checked(fromEnvironment, STATE_KEY_VARIABLE), isNew: false }
  }
  if (isGitLocation(statePath)) {
    if (create) requireKeyPlace(statePath, undefined)
    return { value: undefined, isNew: true }
  }
  const path = `${statePath}.key`
  const isNew = !existsSync(path)
  if (isNew) {
    if (!create) return { value: undefined, isNew }
    // 'wx' fails rather than follow a link that another user put there.
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(path, 0o600)
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new StateError(`the key file ${path} can be read by others: run "chmod 600 ${path}"`)
  }
  return { value: checked(readFileSync(path, 'utf8').trim(), path), isNew }
}

function checked(key: string, source: string): StateKey {
  if (key.length >= KEY_CHARS_MIN) return key
  throw new StateError(`the key in ${source} is too short: it needs at least ${KEY_CHARS_MIN} characters`)
}

/**
 * Returns the fingerprint function for service `key` in the state `stateId`. Fingerprints depend on the place, so that
 * they do not reveal equal secrets, and on the state key.
 */
export function fingerprintFor(stateKey: StateKey, stateId: string, key: string): Fingerprint {
  const start = fingerprintPrefix(stateKey)
  return (pointer, value) => {
    const hmac = createHmac('sha256', stateKey)
    for (const part of [stateId, key, pointer, value]) hmac.update(`${Buffer.byteLength(part)}:${part}`)
    return `${start}${hmac.digest('hex')}`
  }
}

/** Whether the first fingerprint in `definitions` belongs to another key; false for none. Pure. */
export function isOfOtherKey(stateKey: StateKey, definitions: Iterable<CanonicalService | null>): boolean {
  for (const definition of definitions) {
    for (const { call } of definition?.endpoints ?? []) {
      const { body, headers } = call.Http
      for (const value of [body, ...Object.values(headers ?? {})]) {
        if (value !== null && 'sealed' in value) return !value.sealed.startsWith(fingerprintPrefix(stateKey))
      }
    }
  }
  return false
}

function fingerprintPrefix(stateKey: StateKey): string {
  const keyId = createHash('sha256').update(`pharos state key\n${stateKey}`).digest('hex').slice(0, 8)
  return `hmac:v1:${keyId}:`
}
