import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ForgeSettings } from '../../controller/config/settings.ts'
import type { ControllerEvent, ServiceStatus, SetStatus } from '../../controller/status/status.ts'
import { eventOf } from '../../controller/view/eventsOf.ts'
import {
  sampleCondition,
  sampleService,
  sampleSet,
  sampleStatus,
} from '../../dashboard/testing/sampleStatus.ts'
import { type ForgeServer, startForgeServer } from '../testing/forgeServer.ts'
import { type TestNotifications, testNotifications } from '../testing/testNotifications.ts'

const TOKEN = 'glpat-CANARY-token'
const SHA = 'a'.repeat(40)
const NEXT = 'b'.repeat(40)
const COMMIT = { sha: SHA, subject: 'a change', author: 'Ada', at: '2026-01-14T09:40:00.000Z' }

let server: ForgeServer
let notifications: TestNotifications
let shown: SetStatus

beforeEach(async () => {
  server = await startForgeServer(TOKEN)
  server.pullRequests.push({ number: 7, commits: [SHA, NEXT] })
})
afterEach(() => server.close())

function opened(kind: ForgeSettings['kind'], over: Partial<ForgeSettings> = {}): TestNotifications {
  const forge = {
    kind,
    repository: 'shop/monitoring',
    url: kind === 'github' ? server.githubUrl : server.gitlabUrl,
    token: TOKEN,
    commitStatus: true,
    comment: true,
    ...over,
  }
  return testNotifications(
    () => sampleStatus([shown]),
    { channels: [], forges: [forge] },
    'https://pharos.example.com',
  )
}

/** Something happens in the set, which then looks as `set` says; resolves when the forge has the report. */
async function happens(set: SetStatus, told: Partial<ControllerEvent> = {}): Promise<void> {
  shown = set
  const before = await reports()
  const { type = 'RunFinished', severity = 'info', message = 'ended' } = told
  const commit = set.commit?.sha ?? null
  notifications.onEvent(
    eventOf({ type, severity, message }, { at: '2026-01-14T10:00:00.000Z', set: 'shop', commit, runId: 'r' }),
  )
  while ((await reports()) === before) {
    const stepMs = notifications.clock.nextTimerMs()
    if (stepMs !== null) notifications.clock.advance(stepMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** How many reports have ended well, or for good. */
async function reports(): Promise<number> {
  const text = await notifications.registry.metrics()
  const counts = [
    ...text.matchAll(/^pharos_forge_reports_total\{.*result="(?:said|known|refused)"\} (\d+)$/gm),
  ]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

const RUN = sampleSet('shop').lastRun
const seen = sampleSet('shop', { commit: COMMIT, appliedCommit: null, lastRun: null })
const looked = RUN === null ? null : { ...RUN, commit: SHA }
const done = sampleSet('shop', { commit: COMMIT, appliedCommit: SHA, lastRun: looked })

function broken(
  services: readonly ServiceStatus[],
  message = 'services are not as their manifests say',
): SetStatus {
  return sampleSet('shop', {
    commit: COMMIT,
    appliedCommit: null,
    lastRun: looked,
    conditions: [sampleCondition('Degraded', message)],
    services,
  })
}
const failing = broken([
  sampleService('checkout', { state: 'Failed', message: 'the API responded with 400', todo: 'correct it' }),
])

for (const kind of ['github', 'gitlab'] as const) {
  const failure = kind === 'github' ? 'failure' : 'failed'
  const posts = () => server.requests.filter((line) => line.startsWith('POST') && line.includes('/statuses/'))
  const comments = () => server.comments.filter(({ body }) => body.startsWith('<!-- pharos outcome shop -->'))

  describe(kind, () => {
    beforeEach(() => {
      notifications = opened(kind)
    })

    test('Scenario 52: the status of a commit is sent only when it changes', async () => {
      await happens(seen, { type: 'CommitSeen' })
      await happens(seen)
      expect(server.statuses.map(({ state }) => state)).toEqual(['pending'])
      await happens(done)
      await happens(done)
      await happens(
        { ...done, conditions: [sampleCondition('Drifted', 'one was changed by hand')] },
        { type: 'DriftFound' },
      )

      expect(posts()).toHaveLength(2)
      expect(server.statuses.at(-1)).toMatchObject({
        sha: SHA,
        context: 'pharos/shop',
        state: 'success',
        description: '2 services match this commit',
        targetUrl: 'https://pharos.example.com/sets/shop',
      })
    })

    test('a commit overtaken by a newer one does not stay pending', async () => {
      await happens(seen, { type: 'CommitSeen' })
      const next = { ...COMMIT, sha: NEXT }
      await happens({ ...seen, commit: next }, { type: 'CommitSeen' })
      await happens({ ...done, commit: next, appliedCommit: NEXT })

      // One of the two keeps every status, the other the last.
      const last = new Map(server.statuses.map(({ sha, state, description }) => [sha, [state, description]]))
      expect(last.get(SHA)).toEqual(['success', 'applied as part of bbbbbbbbbb'])
      expect(last.get(NEXT)?.[0]).toBe('success')
      expect(posts()).toHaveLength(4)
    })

    test('Scenario 52: a failure sets a status and a comment, and the comment is edited after recovery', async () => {
      await happens(failing, {
        type: 'ServiceFailed',
        message: 'checkout: update failed: the API responded with 400',
      })
      expect(server.statuses.map(({ state }) => state)).toEqual([failure])
      expect(comments()).toHaveLength(1)
      expect(comments()[0]?.body.split(/\r?\n/)).toEqual([
        '<!-- pharos outcome shop -->',
        `<!-- ${SHA} failure -->`,
        '### shop: not applied',
        '',
        '**Commit aaaaaaaaaa:**',
        '',
        '```diff',
        'Degraded: services are not as their manifests say',
        '```',
        '',
        '**Services that do not match git:**',
        '',
        '```diff',
        'failed checkout: the API responded with 400 (correct it)',
        '```',
        '',
        '**What was done:**',
        '',
        '```diff',
        'checkout: update failed: the API responded with 400',
        '```',
        '',
        '[All about shop](https://pharos.example.com/sets/shop)',
      ])
      await happens(done, { type: 'ServiceChanged', message: 'checkout: update done' })
      await happens(done, { type: 'ServiceChanged', message: 'checkout: healed' })

      expect(comments()).toHaveLength(1)
      expect(comments()[0]?.pullRequest).toBe(7)
      expect(comments()[0]?.body).toContain('### shop: applied')
      expect(comments()[0]?.body).toContain('checkout: update done')
      expect(comments()[0]?.body).not.toContain('healed')
    })

    test('the comment is found again among hundreds of others, even after a restart', async () => {
      for (let index = 0; index < 250; index += 1) server.comment(7, `remark ${index}`, index % 3 === 0)
      await happens(failing)
      for (let index = 0; index < 250; index += 1)
        server.comment(7, `> <!-- pharos outcome shop --> ${index}`)
      notifications = opened(kind)
      await happens(done)

      expect(comments()).toHaveLength(1)
      expect(comments()[0]?.body).toContain('applied')
      expect(server.statuses.map(({ state }) => state)).toEqual([failure, 'success'])
    })

    test('after a restart resolved problems are not reported again', async () => {
      await happens(done, { type: 'ServiceChanged', message: 'checkout: update done' })
      const said = server.requests.filter((line) => !line.startsWith('GET')).length
      notifications = opened(kind)
      await happens({ ...seen, services: done.services })
      await happens(done)
      await happens(done)

      expect(server.requests.filter((line) => !line.startsWith('GET'))).toHaveLength(said)
      expect(comments()[0]?.body).toContain('checkout: update done')
    })

    test('Scenario 52: a comment is at most 60 kB, and says where to find what was left out', async () => {
      const services = Array.from({ length: 10_000 }, (_, index) =>
        sampleService(`service-${index}`, {
          state: 'Failed',
          message: 'ü'.repeat(300),
          todo: '```\n@everyone',
        }),
      )
      await happens(broken(services))

      const body = comments()[0]?.body ?? ''
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(60_000)
      expect(body).toMatch(/_\d+ more lines: the page of the controller shows all of it\._/)
      expect(body).not.toMatch(/^[^`]*@everyone/)
    })

    test('a request to an unreachable forge is retried and delays no run; a refused request is reported without the token', async () => {
      server.faults.push(503, 'reset', { status: 429, headers: { 'Retry-After': '60' } })
      const startMs = notifications.clock.wallMs()
      await happens(done)
      expect(server.statuses.map(({ state }) => state)).toEqual(['success'])
      // A second until it is reported, three quarters and one and a half until it is tried again, then what was asked for.
      expect(notifications.clock.wallMs() - startMs).toBe(63_250)

      notifications = opened(kind, { repository: 'shop/other' })
      await happens(done)
      expect(notifications.problems).toEqual([
        `${kind} shop/other did not accept the result of a commit: read the statuses of a commit: status 404 (${kind === 'github' ? 'Not Found' : '404 Project Not Found'})`,
      ])
      expect(JSON.stringify(notifications.problems) + (await notifications.registry.metrics())).not.toContain(
        'CANARY',
      )
    })

    test('a forge that asks for no pause is not asked again at once', async () => {
      server.faults.push({ status: 429, headers: { 'Retry-After': '0' } }, 503)
      const startMs = notifications.clock.wallMs()
      await happens(done)

      expect(notifications.clock.wallMs() - startMs).toBe(1_000 + 750 + 1_500)
    })

    test('only the leader reports to the forge', async () => {
      shown = { ...done, role: 'follower' }
      const told = { type: 'LeaseLost', severity: 'warning', message: 'another replica took over' } as const
      notifications.onEvent(
        eventOf(told, { at: '2026-01-14T10:00:00.000Z', set: 'shop', commit: SHA, runId: null }),
      )
      await notifications.close()
      expect(server.requests).toEqual([])
    })

    test('status and comment can each be switched off', async () => {
      notifications = opened(kind, { comment: false })
      await happens(done)
      expect([server.statuses.length, comments().length]).toEqual([1, 0])
      notifications = opened(kind, { commitStatus: false })
      await happens({ ...done, commit: { ...COMMIT, sha: NEXT }, appliedCommit: NEXT })
      expect([server.statuses.length, comments().length]).toEqual([1, 1])
    })

    test('a refused commit gets the status failure, although another commit is in force', async () => {
      await happens({
        ...done,
        refusedCommit: { ...COMMIT, sha: NEXT },
        conditions: [sampleCondition('CommitRefused', `commit ${NEXT} is not applied: it is not signed`)],
      })
      expect(server.statuses).toMatchObject([{ sha: NEXT, state: failure }])
    })

    test('a commit that waits for approval has the status pending, and the comment says how to approve', async () => {
      const approvals = [
        {
          digest: 'a1b2c3d4e5f60718',
          brakes: [{ brake: 'maxDeletes', message: '4 deletes' }],
          changes: ['delete a'],
        },
      ]
      const conditions = [sampleCondition('ApprovalRequired', '4 deletes')]
      await happens({ ...done, appliedCommit: null, approvals, conditions })

      expect(server.statuses).toMatchObject([
        { state: 'pending', description: 'Approval required: 4 deletes' },
      ])
      expect(comments()[0]?.body).toContain('maxDeletes: 4 deletes\ndelete a')
      expect(comments()[0]?.body).toContain('`Pharos-Approve: a1b2c3d4e5f60718`')
    })
  })
}
