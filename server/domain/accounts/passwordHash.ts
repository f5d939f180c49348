import { scrypt, timingSafeEqual } from 'node:crypto'
import { normalPassword } from './passwordRules.ts'

/** Cost of new hashes: N = 2^log2, which takes 32 MiB and a quarter of a second. */
export const PASSWORD_COST = { log2: 15, blocks: 8, rounds: 3 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Twice the memory that a hash of this cost needs (bytes). */
const MEMORY_BYTES_MAX = 2 * 128 * 2 ** PASSWORD_COST.log2 * PASSWORD_COST.blocks
/** PHC string format: costs, salt, hash. */
const FORM = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

export interface PasswordCost {
  readonly log2: number
  readonly blocks: number
  readonly rounds: number
}

/** Hashes `password` with a random salt. Resolves with a PHC string. */
export async function hashPassword(
  password: string,
  randomBytes: (size: number) => Buffer,
  cost: PasswordCost,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const derived = await derive(password, salt, cost)
  return phcString(cost, salt, derived)
}

/**
 * A hash that no password matches, at the cost of a real one, so that an unknown account takes as long as a known one.
 * Pure.
 */
export function unusablePasswordHash(cost: PasswordCost): string {
  return phcString(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES))
}

/** Whether `stored`, a result of `hashPassword`, is the hash of `password`. Rejects when it has another form. */
export async function isPasswordOf(password: string, stored: string): Promise<boolean> {
  const { cost, salt, derived } = parsed(stored)
  return timingSafeEqual(await derive(password, salt, cost), derived)
}

/** Whether `stored` was made at a lower cost than new hashes, and should be replaced at the next sign-in. Pure. */
export function isOutdated(stored: string, cost: PasswordCost): boolean {
  const { log2, blocks, rounds } = parsed(stored).cost
  return log2 < cost.log2 || blocks < cost.blocks || rounds < cost.rounds
}

function parsed(stored: string) {
  const [, log2, blocks, rounds, salt = '', derived = ''] = FORM.exec(stored) ?? []
  if (log2 === undefined) throw new Error('a stored password hash has an unknown form')
  return {
    cost: { log2: Number(log2), blocks: Number(blocks), rounds: Number(rounds) },
    salt: Buffer.from(salt, 'base64'),
    derived: Buffer.from(derived, 'base64'),
  }
}

function derive(password: string, salt: Buffer, { log2, blocks, rounds }: PasswordCost): Promise<Buffer> {
  const options = { N: 2 ** log2, r: blocks, p: rounds, maxmem: MEMORY_BYTES_MAX }
  return new Promise((resolve, reject) => {
    scrypt(normalPassword(password), salt, HASH_BYTES, options, (error, derived) => {
      if (error === null) resolve(derived)
      else reject(error)
    })
  })
}

function phcString(cost: PasswordCost, salt: Buffer, derived: Buffer): string {
  return `$scrypt$ln=${cost.log2},r=${cost.blocks},p=${cost.rounds}$${unpadded(salt)}$${unpadded(derived)}`
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
