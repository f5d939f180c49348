import { isApiKey } from '../../api/contract/apiKey.ts'
import { hashKey } from '../domain/apiKeys.ts'

const BEARER = /^bearer (\S+)$/i

/** The credentials in the last request of a connection. */
interface Presented {
  readonly authorization: string
  readonly hash: Buffer | undefined
}

/** A connection usually sends the same key with each request, so the hash is cached with the connection. */
const lastPresented = new WeakMap<object, Presented>()

/**
 * Hash of the API key in a request's raw headers (name, value, name, value …); `undefined` when there is none, more
 * than one, or anything other than `Bearer`, one space and a key. Contract: Authentication, rules 1 and 2.
 */
export function presentedHash(rawHeaders: readonly string[], connection: object): Buffer | undefined {
  const authorization = authorizationIn(rawHeaders)
  if (authorization === undefined) return undefined
  const last = lastPresented.get(connection)
  if (last?.authorization === authorization) return last.hash
  const key = BEARER.exec(authorization)?.[1]
  const hash = key !== undefined && isApiKey(key) ? hashKey(key) : undefined
  lastPresented.set(connection, { authorization, hash })
  return hash
}

/**
 * The only Authorization header; `undefined` when there is none or more than one, because any of them may be the
 * intended one.
 */
function authorizationIn(rawHeaders: readonly string[]): string | undefined {
  let authorization: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length !== NAME.length || name.toLowerCase() !== NAME) continue
    if (authorization !== undefined) return undefined
    authorization = rawHeaders[index + 1] ?? ''
  }
  return authorization
}

const NAME = 'authorization'
