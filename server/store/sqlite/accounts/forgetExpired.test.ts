import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../../domain/accounts/sessions.ts'
import { openDatabase } from '../files/openDatabase.ts'
import { openStore } from '../openStore.ts'

const BY = { kind: 'cli' } as const

test('clean-up removes expired sessions, invitations and resets, and leaves valid ones', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-accounts-'))
  const store = await openStore(folder, () => 0)
  const nowMs = 2 * SESSION_MS_MAX
  await store.createOrg({ id: 'org', name: 'x', plan: 'business', nowMs: 0 })
  const invite = async (email: string, expiresAtMs: number) => {
    const tokenHash = randomBytes(32)
    await store.invite({ tokenHash, orgId: 'org', email, role: 'owner', expiresAtMs }, BY, 0)
    return tokenHash
  }
  for (const personId of ['ada', 'eve']) {
    const tokenHash = await invite(`${personId}@example.org`, nowMs)
    await store.acceptInvitation(tokenHash, { kind: 'new', personId, name: 'x', passwordHash: 'none' }, 0)
    const expiresAtMs = personId === 'ada' ? nowMs : nowMs + 1
    const email = `${personId}@example.org`
    await store.startReset({ email, tokenHash: randomBytes(32), expiresAtMs, by: BY, nowMs: 0 })
  }
  const open = (createdAtMs: number, seenAtMs: number) =>
    store.openSession(
      {
        ...{ idHash: randomBytes(32), personId: 'ada', createdAtMs, seenAtMs },
        ...{ elevatedAtMs: null, browser: `${createdAtMs} ${seenAtMs}` },
      },
      'none',
    )
  await open(nowMs - SESSION_IDLE_MS, nowMs - SESSION_IDLE_MS)
  await open(nowMs - SESSION_MS_MAX, nowMs)
  await open(nowMs - SESSION_MS_MAX + 1, nowMs - SESSION_IDLE_MS + 1)
  await invite('late@example.org', nowMs)
  await invite('open@example.org', nowMs + 1)
  await store.tidy(nowMs)
  const { reader, writer } = await openDatabase(folder)
  const left = [
    'SELECT browser FROM sessions',
    'SELECT email FROM invitations',
    'SELECT person_id FROM password_resets',
  ]
  const rows = left.map((sql) => reader.prepare(sql).pluck().all())
  for (const database of [reader, writer]) database.close()
  await store.close()
  await rm(folder, { recursive: true })

  expect(rows).toEqual([
    [`${nowMs - SESSION_MS_MAX + 1} ${nowMs - SESSION_IDLE_MS + 1}`],
    ['open@example.org'],
    ['eve'],
  ])
})
