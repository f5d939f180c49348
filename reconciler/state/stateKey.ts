import { createHash, createHmac, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { CanonicalService, Fingerprint } from '../../api/contract/canonical.ts'
import { isGitLocation } from './git/gitRef.ts'
import { StateError } from './model/stateError.ts'

/** Name of the variable that holds the key of the fingerprints, where no key file is wanted. */
export const STATE_KEY_VARIABLE = 'PHAROS_STATE_KEY'
/** Fewest characters of such a key. */
const KEY_CHARS_MIN = 32

/** The key with which the fingerprints of secrets are made. It is never part of the state. */
export type StateKey = string

/** Throws StateError when a state that is made at `statePath` could have no key. */
export function requireKeyPlace(statePath: string, fromEnvironment: string | undefined): void {
  if (fromEnvironment !== undefined && fromEnvironment !== '') checked(fromEnvironment, STATE_KEY_VARIABLE)
  // Beside a state in git, where every reader of the state would read it, is no place for a key.
  else if (isGitLocation(statePath))
    throw new StateError(
      `a state in git needs ${STATE_KEY_VARIABLE}: fingerprints of secrets are made with it`,
    )
}

/**
 * The key for the state at `statePath`: from `fromEnvironment`, or from the file beside the state, which is
 * made with mode 0600 when `create` says so. Its value is
 * `undefined` when there is none and none is to be made.
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
 * Gives the fingerprints of the secrets of service `key` in the state `stateId`. The same secret has another fingerprint
 * at every place, so that fingerprints do not reveal which secrets are equal; another state key changes all of them.
 */
export function fingerprintFor(stateKey: StateKey, stateId: string, key: string): Fingerprint {
  const start = fingerprintPrefix(stateKey)
  return (pointer, value) => {
    const hmac = createHmac('sha256', stateKey)
    for (const part of [stateId, key, pointer, value]) hmac.update(`${Buffer.byteLength(part)}:${part}`)
    return `${start}${hmac.digest('hex')}`
  }
}

/** Whether the first fingerprint in `definitions` was made with another key; false where there is none. Pure. */
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
