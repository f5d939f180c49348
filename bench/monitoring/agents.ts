/**
 * Cost and latency of agents: 200 of them, in this process, use one server over its real protocol. B10: time from a
 * change to every agent, and to the first check. B11: CPU of the server while it receives their results, and while they
 * wait. B15: CPU of an agent that receives 100,000 endpoints, and one.
 *
 * node --import tsx bench/monitoring/agents.ts
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '../../monitoring/agent/agent.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import type { Link } from '../../monitoring/agent/link.ts'
import type { SyncResponse } from '../../monitoring/protocol/messages.ts'
import { REGIONS } from '../../server/domain/regions.ts'
import { startTarget } from '../../server/testing/target.ts'
import type { Row } from '../server/row.ts'
import { Asker } from './asker.ts'
import { type AgentServer, startAgentServer } from './startAgentServer.ts'

const AGENTS = 200
/** The server itself checks the last region. */
const EMBEDDED = REGIONS.at(-1)?.code ?? ''
const REMOTE = REGIONS.slice(0, -1).map(({ code }) => code)
const CHANGES = 40
const FIRST_CHECKS = 20
/** Maximum random pause between changes, so that they do not follow a rhythm (milliseconds). */
const CHANGE_PAUSE_MS = 200
const RESULTS_PER_SECOND = 100
const BATCHES_PER_SECOND = 5
const RESULT_SECONDS = 10
const IDLE_SECONDS = 10
const FEED = { services: 1_000, endpoints: 100 }
const REPLACES = 50
/** A permitted address where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9'
/** Interval of polling, which costs next to nothing (milliseconds). */
const LOOK_MS = 20
const MS_PER_SECOND = 1_000
const US_PER_SECOND = 1_000_000

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? 0
}

const until = async (isDone: () => boolean): Promise<void> => {
  while (!isDone()) await sleep(LOOK_MS)
}

async function besideAgents(): Promise<readonly Row[]> {
  const server = await startAgentServer()
  let arrivedMs: number[] = []
  const tokens: string[] = []
  for (const region of REMOTE) tokens.push((await server.ask({ kind: 'token', region })).token)
  // Wait until the server has read the modes of its regions.
  await sleep(2 * MS_PER_SECOND)
  const askers = Array.from({ length: AGENTS }, (_, index) => {
    return new Asker(server.link(tokens[index % tokens.length] ?? ''), () => arrivedMs.push(Date.now()))
  })
  try {
    await sleep(2 * MS_PER_SECOND)
    return [
      await changes(
        server,
        () => {
          const arrived = arrivedMs
          arrivedMs = []
          return arrived
        },
        () => arrivedMs.length,
      ),
      await firstChecks(server),
      await idle(server),
      await results(server, askers),
    ]
  } finally {
    for (const asker of askers) asker.stop()
    await server.stop()
  }
}

async function changes(server: AgentServer, take: () => number[], count: () => number): Promise<Row> {
  const definition = { regions: REMOTE, endpoints: 1, url: NOWHERE }
  const { id } = await server.ask({ kind: 'create', ...definition })
  await until(() => count() === AGENTS)
  take()
  const delaysMs: number[] = []
  for (let change = 0; change < CHANGES; change += 1) {
    await sleep(Math.random() * CHANGE_PAUSE_MS)
    const { endedMs } = await server.ask({ kind: 'replace', id, ...definition, url: `${NOWHERE}/${change}` })
    await until(() => count() === AGENTS)
    delaysMs.push(...take().map((atMs) => atMs - endedMs))
  }
  const measured = p99(delaysMs)
  return {
    what: `B10 from a change to ${AGENTS} agents, p99`,
    measured: `${measured} ms`,
    bar: '≤ 250 ms',
    holds: measured <= 250,
  }
}

async function firstChecks(server: AgentServer): Promise<Row> {
  const target = await startTarget()
  const delaysMs: number[] = []
  for (let made = 0; made < FIRST_CHECKS; made += 1) {
    const path = `/${made}`
    const { endedMs } = await server.ask({
      ...{ kind: 'create', regions: [EMBEDDED], endpoints: 1, url: target.url(path) },
    })
    await target.visited(`${path}/0`, 1)
    delaysMs.push(Date.now() - endedMs)
  }
  target.close()
  const longest = Math.max(...delaysMs)
  return {
    what: 'B10 from the response to a creation to the first check, longest',
    measured: `${longest} ms`,
    bar: '≤ 2,000 ms',
    holds: longest <= 2_000,
  }
}

/** CPU time of the server during `work` (microseconds). */
async function cpuOf(server: AgentServer, work: () => Promise<unknown>): Promise<number> {
  const { cpuUs: before } = await server.ask({ kind: 'cpu' })
  await work()
  return (await server.ask({ kind: 'cpu' })).cpuUs - before
}

async function idle(server: AgentServer): Promise<Row> {
  const cpuUs = await cpuOf(server, () => sleep(IDLE_SECONDS * MS_PER_SECOND))
  const share = cpuUs / (IDLE_SECONDS * US_PER_SECOND)
  return {
    what: `B11 server while ${AGENTS} agents wait`,
    measured: `${(share * 100).toFixed(2)} % of a core`,
    bar: '≤ 1 %',
    holds: share <= 0.01,
  }
}

async function results(server: AgentServer, askers: readonly Asker[]): Promise<Row> {
  const services = Math.ceil(AGENTS / REMOTE.length)
  for (const asker of askers) asker.series.splice(0)
  for (let made = 0; made < services; made += 1) {
    await server.ask({
      kind: 'create',
      regions: REMOTE,
      endpoints: RESULTS_PER_SECOND,
      url: `${NOWHERE}/${made}`,
      intervalS: 3_600,
    })
  }
  const inAll = services * RESULTS_PER_SECOND
  await until(() => askers.every(({ series }) => series.length === inAll))
  // New endpoints are due immediately. Wait until their first checks are over.
  await sleep(3 * MS_PER_SECOND)
  // All agents of a region get the same series, but one agent reports each.
  const shares = askers.map(({ series }, index) => {
    const place = Math.floor(index / REMOTE.length)
    return series.slice(place * RESULTS_PER_SECOND, (place + 1) * RESULTS_PER_SECOND)
  })
  let stored = 0
  const startedMs = performance.now()
  const firstS = Math.floor(Date.now() / MS_PER_SECOND) - RESULT_SECONDS
  const cpuUs = await cpuOf(server, () =>
    Promise.all(
      askers.map(async (asker, index) => {
        const share = shares[index] ?? []
        const part = RESULTS_PER_SECOND / BATCHES_PER_SECOND
        // Agents send at different times.
        await sleep(Math.random() * (MS_PER_SECOND / BATCHES_PER_SECOND))
        for (let batch = 0; batch < RESULT_SECONDS * BATCHES_PER_SECOND; batch += 1) {
          const earlyMs = startedMs + (batch * MS_PER_SECOND) / BATCHES_PER_SECOND - performance.now()
          if (earlyMs > 0) await sleep(earlyMs)
          const from = (batch % BATCHES_PER_SECOND) * part
          const taken = await asker.report(
            share.slice(from, from + part),
            firstS + Math.floor(batch / BATCHES_PER_SECOND),
          )
          stored += taken
        }
      }),
    ),
  )
  const seconds = (performance.now() - startedMs) / MS_PER_SECOND
  const expected = AGENTS * RESULTS_PER_SECOND * RESULT_SECONDS
  // On a busy machine they take longer. The share is for the full rate.
  const share = ((cpuUs / stored) * AGENTS * RESULTS_PER_SECOND) / US_PER_SECOND
  return {
    what: `B11 server that takes ${RESULTS_PER_SECOND} results a second from each of ${AGENTS} agents`,
    measured: `${(share * 100).toFixed(0)} % of a core (${stored} of ${expected} stored in ${seconds.toFixed(1)} s)`,
    bar: '≤ 60 %',
    holds: share <= 0.6 && stored === expected,
  }
}

/** CPU time of this process since `before`. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function wholeFeed(): Promise<readonly Row[]> {
  const server = await startAgentServer()
  const region = REMOTE[0] ?? ''
  const { token } = await server.ask({ kind: 'token', region })
  const definition = { regions: [region], url: NOWHERE }
  for (let made = 0; made < FEED.services; made += 1) {
    await server.ask({ kind: 'create', ...definition, endpoints: FEED.endpoints })
  }
  const { id } = await server.ask({ kind: 'create', ...definition, endpoints: 1 })
  const link = server.link(token)
  let applied = 0
  const watched: Link = {
    ...link,
    sync: async (...parameters) => {
      // True because the link has parsed the response.
      const response = (await link.sync(...parameters)) as SyncResponse
      applied += response.start.length
      return response
    },
  }
  const agent = new Agent({
    ...{ link: watched, instance: randomUUID(), version: '0' },
    library: checkLibrary({ allowedRanges: ['127.0.0.0/8'], userAgent: 'bench' }),
    monotonicMs: () => performance.now(),
    wallMs: Date.now,
    onError: (error) => console.error(error),
  })
  let before = process.cpuUsage()
  await agent.setRegions([region])
  // The response is applied before the next turn of the event loop.
  await until(() => applied > FEED.services)
  const feedUs = cpuSince(before)
  const costs: number[] = []
  for (let replace = 0; replace < REPLACES; replace += 1) {
    const known = applied
    await sleep(CHANGE_PAUSE_MS)
    before = process.cpuUsage()
    await server.ask({ kind: 'replace', id, ...definition, endpoints: 1, url: `${NOWHERE}/${replace}` })
    await until(() => applied > known)
    costs.push(cpuSince(before) / MS_PER_SECOND)
  }
  await agent.stop()
  link.close()
  await server.stop()
  const replaceMs = costs.toSorted((a, b) => a - b)[costs.length >> 1] ?? 0
  const endpoints = FEED.services * FEED.endpoints
  return [
    {
      what: `B15 CPU of an agent that takes ${endpoints.toLocaleString('en')} endpoints`,
      measured: `${(feedUs / US_PER_SECOND).toFixed(2)} s`,
      bar: '≤ 5 s',
      holds: feedUs <= 5 * US_PER_SECOND,
    },
    {
      what: 'B15 CPU of an agent that takes a replaced one',
      measured: `${replaceMs.toFixed(2)} ms`,
      bar: '≤ 1 ms',
      holds: replaceMs <= 1,
    },
  ]
}

console.log(`node ${process.version}`)
for (const { what, measured, bar, holds } of [...(await besideAgents()), ...(await wholeFeed())]) {
  console.log(`${holds ? 'ok  ' : 'MISS'} ${what}: ${measured} (limit ${bar})`)
  if (!holds) process.exitCode = 1
}
