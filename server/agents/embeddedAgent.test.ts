import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { type ChecksThread, EmbeddedAgent } from './embeddedAgent.ts'

const BEAT = `import { parentPort } from 'node:worker_threads'
parentPort.postMessage({ kind: 'beat', load: { suspect: false, clock_ahead_ms: 0 } })
`

/** Limits (milliseconds) that a test waits for, and one that a busy machine keeps. */
const SHORT_MS = 200
const LONG_MS = 60_000

/**
 * An agent whose thread runs `code`, with what it logs. It starts a thread that ended again after a second, so that a
 * test may see another restart on a busy machine.
 */
function agentOf(code: string, limits: Partial<ChecksThread> = {}) {
  const lines: string[] = []
  const agent = new EmbeddedAgent({
    hub: { sync: never, ingest: never },
    regions: () => ['eu-west-1'],
    allowedRanges: [],
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    thread: {
      file: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
      silentMsMax: SHORT_MS,
      startMsMax: LONG_MS,
      heartbeatCheckMs: 20,
      ...limits,
    },
  })
  return { agent, lines }
}

function never(): never {
  throw new Error('the thread asks for nothing')
}

test.each([
  ['ends', 'process.exit(1)', {}, []],
  ['throws', `throw new Error('out of memory')`, {}, ['the checks thread failed']],
  [
    'loops before its first beat',
    'for (;;) {}',
    { startMsMax: SHORT_MS },
    ['the checks thread does not respond and is terminated'],
  ],
  ['loops after a beat', `${BEAT}for (;;) {}`, {}, ['the checks thread does not respond and is terminated']],
])('a checks thread that %s is restarted', async (_what, code, limits, reports) => {
  const { agent, lines } = agentOf(code, limits)

  await vi.waitFor(() => expect(agent.restarts).toBeGreaterThan(0), { timeout: 60_000 })
  await agent.stop()

  const once = [...reports, 'the checks thread is restarted']
  expect(lines.slice(0, once.length)).toEqual(once)
})

test('the reason why regions cannot fetch their checks is logged once, until it changes', async () => {
  const trouble = (region: string, reason: string) =>
    `parentPort.postMessage(${JSON.stringify({ kind: 'trouble', region, reason })})\n`
  const { agent, lines } = agentOf(
    `${BEAT}${trouble('eu-west-1', 'busy')}${trouble('us-east-1', 'busy')}${trouble('eu-west-1', 'full')}
parentPort.postMessage({ kind: 'beat', load: { suspect: true, clock_ahead_ms: 0 } })
parentPort.on('message', ({ kind }) => kind === 'stop' && process.exit())`,
    { silentMsMax: LONG_MS },
  )

  await vi.waitFor(() => expect(agent.load?.suspect).toBe(true), { timeout: 60_000 })
  await agent.stop()

  const failure = 'the checks thread could not fetch its checks'
  expect(lines.filter((line) => line === failure)).toEqual([failure, failure])
})

test('a checks thread that cannot be started is started later', async () => {
  // Node throws, as it does at a limit of processes.
  const { agent, lines } = agentOf('', { file: new URL('nowhere:') })

  await vi.waitFor(() => expect(agent.restarts).toBeGreaterThan(1), { timeout: 60_000 })
  await agent.stop()

  const failure = ['the checks thread failed', 'the checks thread is restarted']
  expect(lines.slice(0, 4)).toEqual([...failure, ...failure])
})
