import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestContext, test } from 'vitest'
import { contentOf } from '../testing/filesBelow.ts'
import { useUpSpace } from '../testing/robustness/useUpSpace.ts'
import { rootReason } from '../testing/rootReason.ts'
import { endpointBody } from '../testing/serviceBodies.ts'
import { startTarget, type Target } from '../testing/target.ts'
import { type AgentPrograms, agentPrograms, until } from './testing/agentPrograms.ts'

/** Descriptors of the agent: it needs some 30 for itself. */
const DESCRIPTORS = 56
/** Hosts of this machine that hold their responses back; 8 checks at a time go to each. */
const HOSTS = 8
const HELD_MS = 2_500
/** Beside one another, and beside other files, the tests take several times as long as alone. */
const PATIENT = { timeout: 240_000 }
/** Time in which the rate limit gives a few requests (milliseconds). */
const REFILL_MS = 1_000

interface Scene {
  readonly programs: AgentPrograms
  readonly target: Target
}

/** Programs and a target of one test: the tests wait most of their time, and do so together. */
async function scene(onTestFinished: TestContext['onTestFinished']): Promise<Scene> {
  const target = await startTarget()
  onTestFinished(target.close)
  const programs = await agentPrograms('127.0.0.0/8')
  onTestFinished(programs.close)
  return { programs, target }
}

/** Incidents that are open, and those that were resolved. */
async function incidentCount(programs: AgentPrograms): Promise<number> {
  return (await totalOf(programs, 'active')) + (await totalOf(programs, 'resolved'))
}

async function totalOf(programs: AgentPrograms, section: string): Promise<number> {
  for (;;) {
    const { status, json } = await programs.api().get(`/v1/incidents?section=${section}`)
    if (status === 200) return Number(Object(json).total)
    if (status !== 429) throw new Error(`the API responded with ${status}`)
    await sleep(REFILL_MS)
  }
}

/** Lines in the files of `spool`, in order. */
function spooledIn(spool: string): readonly string[] {
  return readdirSync(spool)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .flatMap((name) => String(contentOf(join(spool, name)) ?? '').split('\n'))
    .filter((line) => line !== '')
}

const isFailure = (line: string): boolean => line.includes('expected')

/** Has `target` fail while the server is away, until at least `failures` of the agent are on disk, and then pass. */
async function failForAWhile(target: Target, spool: string, failures: number): Promise<void> {
  target.status = 500
  await target.visited('/', target.visits('/').length + failures + 1)
  target.status = 200
  // What is younger than five seconds is not on disk yet, and is delivered in its order.
  await until(() => {
    const lines = spooledIn(spool)
    return lines.filter(isFailure).length >= failures && !isFailure(lines.at(-1) ?? '')
  })
}

async function startSlowTarget(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((_request, response) => void setTimeout(() => response.end('ok'), HELD_MS))
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  // True because the server listens on TCP.
  return { port: (server.address() as AddressInfo).port, server }
}

test.concurrent(
  'an agent without free file descriptors continues, reports it, and marks no target as down',
  PATIENT,
  async ({ expect, onTestFinished }) => {
    const { programs } = await scene(onTestFinished)
    const slow = await startSlowTarget()
    await programs.admin(
      'org',
      'auto-incidents',
      '--org',
      programs.orgId,
      '--threshold',
      '1',
      '--window',
      '1',
    )
    await programs.startServer()
    const agent = programs.startAgent([], {
      under: ['sh', '-c', `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`],
    })
    await agent.wrote('"connected"')
    const endpoints = Array.from({ length: HOSTS * 8 }, (_, index) =>
      endpointBody({ url: `http://127.0.0.${2 + (index % HOSTS)}:${slow.port}/${index}` }),
    )
    const { id } = await programs.create({ endpoints, interval_secs: 3 })

    await agent.wrote('this machine could not run checks: their results are unknown')
    await until(async () => {
      const reasons = new Set((await programs.resultsOf(id)).map(({ reason }) => reason))
      return reasons.has('agent_local') && reasons.has('none')
    })
    const before = new Date().toISOString()
    await until(async () =>
      (await programs.resultsOf(id)).some(({ at, outcome }) => at > before && outcome === 'up'),
    )
    const outcomes = new Set((await programs.resultsOf(id)).map(({ outcome }) => outcome))
    const incidents = await incidentCount(programs)
    slow.server.closeAllConnections()
    slow.server.close()

    expect(outcomes).toEqual(new Set(['up', 'unknown']))
    expect(incidents).toBe(0)
    expect(await agent.stop()).toBe(0)
  },
)

test
  .skipIf(rootReason !== null)
  .concurrent(
    `an agent whose spool is on a full disk continues to check, also after a restart, reports it, and delivers everything when the server is back${rootReason === null ? '' : ` (${rootReason})`}`,
    PATIENT,
    async ({ expect, onTestFinished }) => {
      const { programs, target } = await scene(onTestFinished)
      const disk = join(programs.folder, 'disk')
      mkdirSync(disk)
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'pharos', disk]).status).toBe(0)
      try {
        const spool = join(disk, 'spool')
        await programs.startServer()
        const agent = programs.startAgent(['--spool', spool])
        const { id } = await programs.create({ endpoints: [endpointBody({ url: target.url('/') })] })
        await until(async () => (await programs.resultsOf(id)).length > 1)
        const filler = join(disk, 'filler')
        await useUpSpace(filler)

        await programs.server().kill()
        const killedAt = new Date().toISOString()
        await agent.wrote('the spool could not be written: results wait in memory')
        const visits = target.visits('/').length
        // The first one may have been due before.
        await target.visited('/', visits + 7)
        const files = readdirSync(spool).filter((name) => name.endsWith('.jsonl'))
        const whileFull = files.map((name) => statSync(join(spool, name)).size)
        await programs.startServer()
        const startedAt = new Date().toISOString()
        await until(async () => (await programs.resultsOf(id)).some(({ at }) => at > startedAt))
        const made = () => target.visits('/').length
        await programs.api().post(`/v1/services/${id}/pause`)
        await until(async () => {
          // A busy machine may leave checks out.
          const ofGap = (await programs.resultsOf(id)).filter(
            ({ at, outcome }) => at > killedAt && at < startedAt && outcome !== 'unknown',
          )
          return ofGap.length > 5 && ofGap.every(({ outcome }) => outcome === 'up')
        })

        expect(made()).toBeGreaterThan(visits)
        expect(whileFull.every((size) => size === 0) && whileFull.length <= 1).toBe(true)
        expect(await agent.stop()).toBe(0)
        // The file of the lock is gone, and with it some of the used space.
        await useUpSpace(join(disk, 'another'))
        const restarted = programs.startAgent(['--spool', spool])
        await restarted.wrote('"connected"')
        rmSync(filler)
        expect(await restarted.stop()).toBe(0)
      } finally {
        spawnSync('umount', ['-l', disk])
      }
    },
  )

test.concurrent(
  'a failure during a server outage opens no incident once the target is up again',
  PATIENT,
  async ({ expect, onTestFinished }) => {
    const { programs, target } = await scene(onTestFinished)
    await programs.admin(
      'org',
      'auto-incidents',
      '--org',
      programs.orgId,
      '--threshold',
      '2',
      '--window',
      '1',
    )
    await programs.startServer()
    const spool = join(programs.folder, 'spool')
    programs.startAgent(['--spool', spool])
    const { id } = await programs.create({ endpoints: [endpointBody({ url: target.url('/') })] })
    await until(async () => (await programs.resultsOf(id)).length > 1)

    await programs.server().kill()
    await failForAWhile(target, spool, 4)
    await programs.startServer()
    const isLate = ({ outcome }: { outcome: string }) => outcome === 'down'
    await until(async () => (await programs.resultsOf(id)).filter(isLate).length > 3)
    const startedAt = new Date().toISOString()
    await until(async () => (await programs.resultsOf(id)).filter(({ at }) => at > startedAt).length > 3)
    const [state] = await programs.admin('states', '--org', programs.orgId)
    const ofGap = await incidentCount(programs)
    target.status = 500
    await until(async () => (await incidentCount(programs)) > 0)

    expect([state.state, ofGap]).toEqual(['up', 0])
  },
)

test.concurrent(
  'an agent that is killed and restarted during a server outage delivers results once, and opens no incident for old ones',
  PATIENT,
  async ({ expect, onTestFinished }) => {
    const { programs, target } = await scene(onTestFinished)
    await programs.admin(
      'org',
      'auto-incidents',
      '--org',
      programs.orgId,
      '--threshold',
      '2',
      '--window',
      '1',
    )
    await programs.startServer()
    const spool = join(programs.folder, 'spool')
    const first = programs.startAgent(['--spool', spool])
    const { id } = await programs.create({ endpoints: [endpointBody({ url: target.url('/') })] })
    await until(async () => (await programs.resultsOf(id)).length > 1)

    await programs.server().kill()
    await failForAWhile(target, spool, 4)
    await first.kill()
    // No new result comes before the old ones.
    target.status = null
    const kept = spooledIn(spool).length
    const second = programs.startAgent(['--spool', spool])
    await second.wrote('sync with the server failed')
    await programs.startServer()
    await until(() => spooledIn(spool).length === 0)
    target.status = 200
    const deliveredAt = new Date().toISOString()
    await until(async () => (await programs.resultsOf(id)).filter(({ at }) => at > deliveredAt).length > 2)
    const results = await programs.resultsOf(id)
    const [state] = await programs.admin('states', '--org', programs.orgId)
    const opened = await incidentCount(programs)

    expect(second.output()).toContain(`${kept} results wait`)
    expect(results.filter(({ outcome }) => outcome === 'down').length).toBeGreaterThan(3)
    expect(new Set(results.map(({ at }) => at)).size).toBe(results.length)
    expect([state.state, opened]).toEqual(['up', 0])
  },
)
