import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { makeBareRepository } from '../../git/bareRepository.ts'
import { type Binding, newBinding } from '../../plan/binding.ts'
import { stateInGit } from '../../testing/modelStates.ts'
import { openStore, readStore } from '../openStore.ts'
import { takeLease } from './lease.ts'
import { type CreateIntent, EVENTS_KEPT, type Intent, RUNS_KEPT, type RunRecord } from './record.ts'
import type { StateReading, StateStore } from './store.ts'

let folder: string
beforeEach(() => {
  folder = testFolder()
})

const binding: Binding = {
  ...newBinding('shop', 'id-1'),
  desired: { name: 'Shop', interval_secs: 60, regions: ['a'], endpoints: [] },
  paused: true,
  onDelete: 'pause',
  protect: true,
  pruneAfterSecs: 60,
  heals: [{ pointer: '/name', atMs: 5 }],
}
const intent: Intent = {
  opId: 'op-1',
  runId: 'run-1',
  key: 'shop',
  kind: 'create',
  serviceId: null,
  sentAtMs: 1_000,
  create: {
    sent: { name: 'Shop', interval_secs: 60, regions: [], endpoints: [] },
    preIds: ['x'],
    policy: { onDelete: 'delete', protect: false, pruneAfterSecs: null },
  },
}
const sentAgain: CreateIntent = {
  sent: { name: 'Shop', interval_secs: 90, regions: [], endpoints: [] },
  earlier: [{ name: 'Shop', interval_secs: 60, regions: [], endpoints: [] }],
  preIds: ['x', 'y'],
  policy: { onDelete: 'pause', protect: true, pruneAfterSecs: 60 },
}
const run: RunRecord = {
  runId: 'run-1',
  command: 'apply',
  trigger: 'command',
  commitSha: 'abc',
  planDigest: null,
  outcome: 'done',
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:01.000Z',
  exitCode: 0,
  isHistoryRewritten: false,
  counts: { created: 1 },
}
const event = {
  at: '2026-01-01T00:00:00.000Z',
  runId: 'run-1',
  key: 'shop',
  type: 'HealLoop',
  severity: 'warning' as const,
  message: 'it comes back',
}

/** A clock that only `sleep` moves. */
function steppedClock() {
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    sleep: async (delayMs: number) => {
      nowMs += delayMs
    },
    every: () => () => {},
  }
}

const env = { PATH: process.env.PATH }

/** A bare repository on this machine stands for a remote one: git talks to it in the same way. */
function repository(): string {
  const directory = join(folder, 'repository.git')
  if (!existsSync(directory)) makeBareRepository(directory)
  return directory
}

/** Where a state is kept. */
interface Place {
  readonly open: () => Promise<StateStore>
  readonly read: () => Promise<StateReading>
}

const at = (location: string): Place => ({
  open: () => openStore(location, env),
  read: () => readStore(location, env),
})

const inSqlite = (): Place => at(join(folder, 'pharos.db'))
const inGit = (): Place => at(`git:${repository()}#refs/pharos/production`)
/** The store of a ref without git, which starts a dozen programs for each write. */
const inRef = (): Place => {
  const open = stateInGit({ nowMs: 0 })
  return { open, read: open }
}

async function opened(place: Place): Promise<StateStore> {
  const store = await place.open()
  expect(await store.acquire('test')).toMatchObject({ epoch: expect.any(Number) })
  return store
}

let place: Place

describe.each([
  ['an SQLite file', inSqlite],
  ['a ref of a git repository', inGit],
])('the state in %s', (_what, make) => {
  beforeEach(() => {
    place = make()
  })

  test('an intent replaces the earlier one of its operation', async () => {
    const store = await opened(place)
    await store.begin([intent])
    await store.failed('op-1')
    const again: Intent = { ...intent, runId: 'run-2', sentAtMs: 2_000, create: sentAgain }

    await store.begin([again])

    expect(await store.openIntents()).toEqual([{ ...again, mayStillLand: true }])
    await store.close()
  })

  test('written data is there when the state is opened again', async () => {
    const first = await opened(place)
    await first.settleIn({ orgId: 'org', url: 'http://x', source: 'monitoring' })
    await first.begin([intent, { ...intent, opId: 'op-2', key: 'other' }])
    await first.failed('op-2')
    await first.settle('op-1', { put: binding })
    await first.recordRun(run)
    await first.note([event])
    await first.suspend({ scope: '*', reason: 'r', actor: 'a', since: 's', until: null })
    await first.approve({ digest: 'd', actor: 'a', at: 't' })
    await first.release()
    await first.close()

    const second = await place.read()
    expect(second.stateId).toBe(first.stateId)
    expect(await second.home()).toEqual({ orgId: 'org', url: 'http://x', source: 'monitoring' })
    expect(await second.bindings()).toEqual([binding])
    const open = await second.openIntents()
    expect(open).toEqual([{ ...intent, opId: 'op-2', key: 'other', mayStillLand: false }])
    expect(await second.runs(9)).toEqual([run])
    expect(await second.events(9)).toEqual([{ ...event, seq: 1 }])
    expect(await second.suspensions()).toMatchObject([{ scope: '*', reason: 'r' }])
    expect(await second.approvals()).toEqual([{ digest: 'd', actor: 'a', at: 't' }])
    expect(await second.lease()).toBeNull()
    await second.close()
  })

  test('one holder at a time has the lease, and the next one gets it when it is released', async () => {
    const first = await opened(place)
    const second = await place.open()
    expect(await second.acquire('other')).toEqual({ heldBy: { holder: 'test', epoch: 1, renewals: 0 } })
    const reader = await place.read()
    // The holder that was just seen is no more than a minute of any clock away.
    expect(Math.abs(Date.now() - ((await reader.writtenAtMs()) ?? 0))).toBeLessThan(60_000)
    await reader.close()
    await expect(second.save({ put: binding })).rejects.toMatchObject({ reason: 'lost' })
    await first.release()
    expect(await second.acquire('other')).toEqual({ epoch: 2 })
    await second.save({ put: binding })
    await Promise.all([first.close(), second.close()])
  })

  test('a holder that detects a takeover while it releases the lease overwrites nothing', async () => {
    const stopped = await opened(place)
    const waiting = await place.open()
    const lease = await takeLease(waiting, 'other', 10 * waiting.leaseTtlMs, steppedClock())
    await waiting.save({ put: binding })
    await waiting.checkpoint()

    // A sign of life that was on its way when the process stood still, and then the end of its run.
    const renewal = stopped.renew()
    const givenBack = stopped.release()
    await expect(renewal).rejects.toMatchObject({ reason: 'lost' })
    await givenBack

    const reader = await place.open()
    expect(await reader.bindings()).toEqual([binding])
    expect(await reader.lease()).toMatchObject({ holder: 'other', epoch: 2 })
    await lease.release()
    await Promise.all([stopped.close(), waiting.close(), reader.close()])
  })
})

describe.each([
  ['an SQLite file', inSqlite],
  ['a ref', inRef],
])('the state in %s', (_what, make) => {
  beforeEach(() => {
    place = make()
  })

  test('a rename moves the binding in one step, and a service has one binding', async () => {
    const store = await opened(place)
    await store.save({ put: binding })
    await store.save({ drop: 'shop', put: { ...binding, key: 'store' } })
    expect((await store.bindings()).map((one) => one.key)).toEqual(['store'])
    await store.close()
  })

  test('the lease of a holder without renewals is taken over, and its later writes are refused', async () => {
    const stopped = await opened(place)
    const waiting = await place.open()

    const lease = await takeLease(waiting, 'other', 10 * waiting.leaseTtlMs, steppedClock())
    expect(lease.epoch).toBe(2)

    for (const write of [
      () => stopped.begin([intent]),
      () => stopped.settle('op-1', { put: binding }),
      () => stopped.save({ put: binding }),
      () => stopped.recordRun(run),
      () => stopped.renew(),
    ]) {
      await expect(write()).rejects.toMatchObject({ reason: 'lost' })
    }
    await stopped.release()
    await lease.release()
    expect([await waiting.bindings(), await waiting.openIntents()]).toEqual([[], []])
    await Promise.all([stopped.close(), waiting.close()])
  })

  test('a renewed lease is waited for until the timeout, and not taken over', async () => {
    const living = await opened(place)
    const waiting = await place.open()
    const clock = steppedClock()
    const sleep = async (delayMs: number): Promise<void> => {
      await living.renew()
      await clock.sleep(delayMs)
    }
    const timeoutMs = 1.2 * waiting.leaseTtlMs
    const taken = takeLease(waiting, 'other', timeoutMs, { ...clock, sleep })
    await expect(taken).rejects.toMatchObject({ reason: 'held', message: expect.stringContaining('(test)') })
    expect(clock.nowMs()).toBe(timeoutMs)
    await waiting.close()
    await living.save({ put: binding })
    await living.close()
  })

  test('the lease of a holder that renewed and was then suspended is taken over', async () => {
    const stopped = await opened(place)
    const waiting = await place.open()
    const clock = steppedClock()
    let looks = 0
    const sleep = async (delayMs: number): Promise<void> => {
      looks += 1
      if (looks === 2) await stopped.renew()
      await clock.sleep(delayMs)
    }

    const lease = await takeLease(waiting, 'other', 3 * waiting.leaseTtlMs, { ...clock, sleep })

    expect(lease.epoch).toBe(2)
    expect(clock.nowMs()).toBeGreaterThan(waiting.leaseTtlMs)
    await lease.release()
    await Promise.all([stopped.close(), waiting.close()])
  })

  test('operator input needs no lease, and an approval or an acknowledgement is used once', async () => {
    const running = await opened(place)
    const person = await place.open()
    await person.approve({ digest: 'd', actor: 'ada', at: 't' })
    await person.acknowledgeHistory({ commitSha: 'c', actor: 'ada', at: 't' })
    await person.suspend({ scope: 'a', reason: 'one', actor: 'ada', since: 's', until: null })
    await person.suspend({ scope: 'a', reason: 'two', actor: 'ada', since: 's', until: 'u' })
    expect([await person.resume('b'), await person.suspensions()]).toMatchObject([false, [{ reason: 'two' }]])
    expect(await person.resume('a')).toBe(true)
    await person.close()

    await running.save({ put: binding })
    expect([await running.useApproval('d'), await running.useApproval('d')]).toEqual([true, false])
    expect(await acknowledged(running)).toEqual([false, true, false])
    expect(await running.suspensions()).toEqual([])
    await running.release()
    await running.close()
  })

  test('a limited number of the newest runs and events is kept', async () => {
    const store = await opened(place)
    for (let index = 0; index < RUNS_KEPT + 3; index += 1) {
      const startedAt = new Date(index * 1_000).toISOString()
      await store.recordRun({ ...run, runId: `run-${index}`, startedAt })
    }
    await store.note(Array.from({ length: EVENTS_KEPT + 5 }, (_, index) => ({ ...event, key: `k${index}` })))
    const runs = await store.runs(9_999)
    const events = await store.events(9_999)
    expect([runs.length, runs[0]?.runId]).toEqual([RUNS_KEPT, `run-${RUNS_KEPT + 2}`])
    expect([events.length, events[0]?.seq]).toEqual([EVENTS_KEPT, EVENTS_KEPT + 5])
    await store.close()
  })
})

test('a holder whose release did not reach the repository takes its lease back, unless another one has it', async () => {
  const { open } = inGit()
  const [first, second] = [await open(), await open()]
  const releaseInVain = async (): Promise<void> => {
    const away = join(folder, 'away')
    renameSync(repository(), away)
    await expect(first.release()).rejects.toMatchObject({ reason: 'unusable' })
    renameSync(away, join(folder, 'repository.git'))
  }
  await first.acquire('test')
  await releaseInVain()
  const held = { holder: 'test', epoch: 1, renewals: 0 }
  expect([await second.acquire('other'), await second.lease()]).toEqual([{ heldBy: held }, held])

  expect(await first.acquire('test')).toEqual({ epoch: 2 })

  await releaseInVain()
  const taken = await second.acquire('other', { ...held, epoch: 2 })
  expect([taken, await first.acquire('test')]).toEqual([
    { epoch: 3 },
    { heldBy: { holder: 'other', epoch: 3, renewals: 0 } },
  ])
  await Promise.all([first.close(), second.close()])
})

async function acknowledged(store: StateStore): Promise<readonly boolean[]> {
  return [
    await store.useHistoryAcknowledgement('d'),
    await store.useHistoryAcknowledgement('c'),
    await store.useHistoryAcknowledgement('c'),
  ]
}
