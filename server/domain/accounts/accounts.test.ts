import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { emailProblem, foldedEmail } from './emailAddress.ts'
import {
  hashPassword,
  isOutdated,
  isPasswordOf,
  PASSWORD_COST,
  unusablePasswordHash,
} from './passwordHash.ts'
import { passwordProblem } from './passwordRules.ts'
import { isPermitted, LOWEST_ROLES, type Permission } from './roles.ts'
import { hashToken, isElevated, isSessionValid, newToken } from './sessions.ts'

describe('passwords', () => {
  const EMAIL = 'grace.hopper@example.org'

  test.each([
    ['eleven char', 'must have at least 12 characters'],
    ['x'.repeat(257), 'must have at most 256 characters'],
    ['my name is Grace.Hopper!', 'must not contain your e-mail address'],
    ['aaaaaaaaaaaaaaaa', 'must not be a repetition of the same characters'],
    ['abcabcabcabcabc', 'must not be a repetition of the same characters'],
    ['correct horse battery', undefined],
    ['ⅷⅷ twelve long', undefined],
    ['🔑 twelve chars', undefined],
  ])('%s: %s', (password, problem) => {
    expect(passwordProblem(password, EMAIL)).toBe(problem)
  })

  test('a short local part may be in a password, because most words contain it', () => {
    expect(passwordProblem('a battery of horses', 'ba@example.org')).toBeUndefined()
  })

  test('a hash contains its parameters, differs each time, and matches its password in any Unicode form', async () => {
    const cheap = { log2: 10, blocks: 8, rounds: 1 }
    const [one, other] = [
      await hashPassword('Å pass word', randomBytes, cheap),
      await hashPassword('Å pass word', randomBytes, cheap),
    ]

    expect(one).toMatch(/^\$scrypt\$ln=10,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(other)
    expect([await isPasswordOf('A\u030a pass word', one), await isPasswordOf('Å pass wore', one)]).toEqual([
      true,
      false,
    ])
    expect([
      isOutdated(one, PASSWORD_COST),
      isOutdated(unusablePasswordHash(PASSWORD_COST), PASSWORD_COST),
    ]).toEqual([true, false])
    expect(unusablePasswordHash(PASSWORD_COST)).toContain('$ln=15,r=8,p=3$')
    await expect(isPasswordOf('x', 'none')).rejects.toThrow('unknown form')
  })
})

test('addresses are compared without case and width', () => {
  expect(foldedEmail(' Ada@Example.ORG ')).toBe('ada@example.org')
  expect(foldedEmail('ａda@example.org')).toBe('ada@example.org')
  expect(
    ['ada@example.org', 'ada', 'a@b@c', 'a b@c', `${'a'.repeat(250)}@b.de`].map(
      (one) => emailProblem(one) === undefined,
    ),
  ).toEqual([...[true, false, false, false, false]])
})

test('a token has 256 random bits, and only its hash is comparable', () => {
  const token = newToken(randomBytes)

  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  expect(hashToken(token)).toHaveLength(32)
  expect(newToken(randomBytes)).not.toBe(token)
})

test('a session ends when it is idle for 12 hours or 30 days old, and a confirmed password counts for 15 minutes', () => {
  const [hourMs, dayMs] = [3_600_000, 86_400_000]
  const session = { createdAtMs: 0, seenAtMs: 0, elevatedAtMs: 0 }

  expect([isSessionValid(session, 12 * hourMs - 1), isSessionValid(session, 12 * hourMs)]).toEqual([
    true,
    false,
  ])
  const used = { ...session, seenAtMs: 30 * dayMs - 1 }
  expect([isSessionValid(used, 30 * dayMs - 1), isSessionValid(used, 30 * dayMs)]).toEqual([true, false])
  expect([isElevated(session, hourMs / 4 - 1), isElevated(session, hourMs / 4)]).toEqual([true, false])
  expect(isElevated({ ...session, elevatedAtMs: null }, 0)).toBe(false)
})

test('each role has the permissions of the table', () => {
  // True because the keys of the table are the permissions.
  const permissions = Object.keys(LOWEST_ROLES) as Permission[]
  const of = (role: 'viewer' | 'member' | 'owner') => permissions.filter((one) => isPermitted(role, one))

  expect(of('viewer')).toEqual(['read'])
  expect(of('member')).toEqual(['read', 'operate', 'use channels'])
  expect(of('owner')).toEqual(permissions)
})
