/**
 * Memory of an agent with hostile targets: pharos-agent checks endpoints that send endless bodies, headers and interim
 * responses, fast or byte by byte, and decompression bombs. The targets are in this process. Build dist first.
 *
 * node --import tsx bench/monitoring/hostileTargets.ts [seconds]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { startAgentServer } from './startAgentServer.ts'

const SECONDS = Number(process.argv[2] ?? 90)
const AGENT = fileURLToPath(new URL('../../dist/pharos-agent.js', import.meta.url))
const REGION = 'eu-west-1'
const BAR_MB = 250
/**
 * An agent runs at most 8 concurrent checks to a port, and 64 of an organisation. These limits are full, and so is its
 * limit of 512.
 */
const PORTS_OF_ORG = 8
const ENDPOINTS_OF_PORT = 10
const ORGS = [1, 8]
const MEBIBYTE = 1_048_576
/** Time between two parts of a body that arrives at 1 MiB per second (milliseconds). */
const PART_MS = 62

const HEAD = 'HTTP/1.1 200 OK\r\n'
const bomb = gzipSync(Buffer.alloc(300 * MEBIBYTE))

/** Sends `part` repeatedly, as fast as the other side accepts it. */
function forever(socket: Socket, part: Buffer | string): void {
  const send = (): void => {
    if (socket.destroyed) return
    if (socket.write(part)) setImmediate(send)
    else socket.once('drain', send)
  }
  send()
}

function steadily(socket: Socket, part: Buffer): void {
  const timer = setInterval(() => socket.write(part), PART_MS)
  socket.once('close', () => clearInterval(timer))
}

/** The kinds of hostile behaviour. */
const KINDS: readonly ((socket: Socket) => void)[] = [
  (socket) => {
    socket.write(`${HEAD}\r\n`)
    steadily(socket, Buffer.alloc(65_536, 'a'))
  },
  (socket) => {
    socket.write(`${HEAD}\r\n`)
    forever(socket, 'a')
  },
  (socket) => {
    socket.write(`${HEAD}A: `)
    forever(socket, 'a')
  },
  (socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`)
    forever(socket, '1\r\na\r\n')
  },
  (socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n`)
    steadily(socket, Buffer.alloc(65_536, 'a'))
  },
  (socket) => forever(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  (socket) => socket.end(`${HEAD}A: ${'a'.repeat(70_000)}\r\n\r\n`),
  (socket) => {
    socket.write(`${HEAD}Content-Encoding: gzip\r\n\r\n`)
    socket.end(bomb)
  },
]

async function startTarget(kind: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => kind(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    urls: Array.from({ length: ENDPOINTS_OF_PORT }, (_, index) => `http://127.0.0.1:${port}/${index}`),
    underWay: () => sockets.size,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Maximum memory of an agent (megabytes), and maximum number of concurrent checks, with hostile services of `orgs`
 * organisations.
 */
async function measure(orgs: number, folder: string) {
  const server = await startAgentServer()
  const { token } = await server.ask({ kind: 'token', region: REGION })
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, token)
  const targets: Awaited<ReturnType<typeof startTarget>>[] = []
  for (let org = 0; org < orgs; org += 1) {
    const own = await Promise.all(
      Array.from({ length: PORTS_OF_ORG }, (_, port) =>
        startTarget(KINDS[port % KINDS.length] as (socket: Socket) => void),
      ),
    )
    targets.push(...own)
    await server.ask({ kind: 'create hostile', urls: own.flatMap(({ urls }) => urls), region: REGION })
  }
  const agent = spawn(
    process.execPath,
    [AGENT, '--server', server.agentUrl, '--token-file', tokenFile, '--allow-ranges', '127.0.0.0/8'],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PHAROS_LOG_LEVEL: 'error' } },
  )
  let underWay = 0
  const looking = setInterval(() => {
    underWay = Math.max(
      underWay,
      targets.reduce((sum, target) => sum + target.underWay(), 0),
    )
  }, 500)
  try {
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000))
    const status = await readFile(`/proc/${agent.pid}/status`, 'utf8')
    return { mostMb: Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000, underWay }
  } finally {
    clearInterval(looking)
    const ended = once(agent, 'exit')
    agent.kill('SIGKILL')
    await ended
    for (const target of targets) target.close()
    await server.stop()
  }
}

console.log(`node ${process.version}`)
const folder = await mkdtemp(join(tmpdir(), 'pharos-hostile-'))
for (const orgs of ORGS) {
  const { mostMb, underWay } = await measure(orgs, folder)
  const found = `at most ${mostMb.toFixed(0)} MB with ${underWay} checks under way`
  if (orgs > 1)
    console.log(`     and of ${orgs} organisations, so that the limit of checks is full: ${found}`)
  else {
    const isWithin = mostMb < BAR_MB
    if (!isWithin) process.exitCode = 1
    const bar = `bar < ${BAR_MB} MB`
    console.log(
      `${isWithin ? 'ok  ' : 'MISS'} memory of an agent whose targets are hostile, of one organisation: ${found} (${bar})`,
    )
  }
}
await rm(folder, { recursive: true })
