import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { EmbeddedAgent } from './embeddedAgent.ts'

const BEAT = `import { parentPort } from 'node:worker_threads'
parentPort.postMessage({ kind: 'beat', load: { suspect: false, clock_ahead_ms: 0 } })
`

/** An agent whose thread runs `code`, with what it logs. It starts a thread that ended again after a second. */
function agentOf(code: string, file = new URL(`data:text/javascript,${encodeURIComponent(code)}`)) {
  const lines: string[] = []
  const agent = new EmbeddedAgent({
    hub: { sync: never, ingest: never },
    regions: () => ['eu-west-1'],
    allowedRanges: [],
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    thread: {
      file,
      ...{ silentMsMax: 200, startMsMax: 400, heartbeatCheckMs: 20 },
    },
  })
  return { agent, lines }
}

function never(): never {
  throw new Error('the thread asks for nothing')
}

test.each([
  ['ends', 'process.exit(1)', []],
  ['throws', `throw new Error('out of memory')`, ['the checks thread failed']],
  ['loops before its first beat', 'for (;;) {}', ['the checks thread does not respond and is terminated']],
  ['loops after a beat', `${BEAT}for (;;) {}`, ['the checks thread does not respond and is terminated']],
])('a checks thread that %s is restarted', async (_what, code, reports) => {
  const { agent, lines } = agentOf(code)

  await vi.waitFor(() => expect(agent.restarts).toBe(1), { timeout: 60_000 })
  await agent.stop()

  expect(lines).toEqual([...reports, 'the checks thread is restarted'])
})

test('the reason why regions cannot fetch their checks is logged once, until it changes', async () => {
  const trouble = (region: string, reason: string) =>
    `parentPort.postMessage(${JSON.stringify({ kind: 'trouble', region, reason })})\n`
  const { agent, lines } = agentOf(
    `${BEAT}${trouble('eu-west-1', 'busy')}${trouble('us-east-1', 'busy')}${trouble('eu-west-1', 'full')}`,
  )

  await vi.waitFor(() => expect(lines.length).toBeGreaterThan(1), { timeout: 60_000 })
  await agent.stop()

  const failure = 'the checks thread could not fetch its checks'
  expect(lines.filter((line) => line === failure)).toEqual([failure, failure])
})

test('a checks thread that cannot be started is started later', async () => {
  // Node throws, as it does at a limit of processes.
  const { agent, lines } = agentOf('', new URL('nowhere:'))

  await vi.waitFor(() => expect(agent.restarts).toBe(2), { timeout: 60_000 })
  await agent.stop()

  const failure = ['the checks thread failed', 'the checks thread is restarted']
  expect(lines).toEqual([...failure, ...failure])
})
