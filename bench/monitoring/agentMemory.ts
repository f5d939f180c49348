/**
 * Memory of pharos-agent while it checks endpoints once a minute: resident memory after some rounds, and its maximum.
 * docs/agents.md has these figures. Build dist first.
 *
 * node --import tsx bench/monitoring/agentMemory.ts [endpoints…]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAgentServer } from './startAgentServer.ts'
import { startTargets } from './startTargets.ts'

const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 10_000]
const AGENT = fileURLToPath(new URL('../../dist/pharos-agent.js', import.meta.url))
const REGION = 'eu-west-1'
const ENDPOINTS_OF_SERVICE = 100
const INTERVAL_S = 60
/** Number of checks of each endpoint before memory is read: a first one, and one for each interval. */
const ROUNDS = 3
const LOOK_MS = 1_000

/** Resident memory of a process, and its maximum so far (megabytes). */
async function memoryOf(
  pid: number | undefined,
): Promise<{ readonly nowMb: number; readonly mostMb: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_000
  return { nowMb: megabytes('VmRSS'), mostMb: megabytes('VmHWM') }
}

/** Measures the memory of an agent with `endpoints` endpoints. */
async function measure(endpoints: number, folder: string) {
  const [server, targets] = await Promise.all([startAgentServer(), startTargets()])
  const { token } = await server.ask({ kind: 'token', region: REGION })
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, token)
  for (let made = 0; made < endpoints; made += ENDPOINTS_OF_SERVICE) {
    const origin = targets.urls[(made / ENDPOINTS_OF_SERVICE) % targets.urls.length] ?? ''
    await server.ask({
      ...{ kind: 'create', url: `${origin}${made}`, regions: [REGION], intervalS: INTERVAL_S },
      endpoints: Math.min(ENDPOINTS_OF_SERVICE, endpoints - made),
    })
  }
  const agent = spawn(
    process.execPath,
    [AGENT, '--server', server.agentUrl, '--token-file', tokenFile, '--allow-ranges', '127.0.0.0/8'],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PHAROS_LOG_LEVEL: 'error' } },
  )
  try {
    while ((await targets.requests()) < ROUNDS * endpoints) {
      if (agent.exitCode !== null) throw new Error(`the agent ended with ${agent.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return await memoryOf(agent.pid)
  } finally {
    const ended = once(agent, 'exit')
    agent.kill()
    await ended
    targets.stop()
    await server.stop()
  }
}

console.log(`node ${process.version}`)
const folder = await mkdtemp(join(tmpdir(), 'pharos-agent-memory-'))
for (const endpoints of SIZES) {
  const { nowMb, mostMb } = await measure(endpoints, folder)
  console.log(
    `memory of an agent with ${endpoints.toLocaleString('en')} endpoints each ${INTERVAL_S} s: ` +
      `${nowMb.toFixed(0)} MB, at most ${mostMb.toFixed(0)} MB`,
  )
}
await rm(folder, { recursive: true })
