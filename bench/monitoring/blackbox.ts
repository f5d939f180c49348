import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'

const PROGRAM = '/usr/bin/prometheus-blackbox-exporter'
const PACKAGE = 'prometheus-blackbox-exporter'
/** Number of concurrent probes in a closed loop. */
const IN_FLIGHT = 64
/** Clock ticks of /proc per second: 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100
const LOOK_MS = 50

/** A real blackbox_exporter. */
export interface Blackbox {
  readonly version: string
  /** Sends `count` probes, to `urls` in turns. Resolves with the exporter's CPU time for each (microseconds). */
  readonly probe: (urls: readonly string[], count: number, perSecond?: number) => Promise<number>
  readonly stop: () => Promise<void>
}

/**
 * Installs blackbox_exporter if root runs this. Returns the reason why there is none; `undefined` when it is installed.
 */
export function blackboxMissing(): string | undefined {
  if (existsSync(PROGRAM)) return undefined
  if (process.getuid?.() !== 0) return `no ${PROGRAM}, and only root can install Debian's ${PACKAGE}`
  try {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', PACKAGE], { stdio: 'ignore' })
  } catch {
    return `no ${PROGRAM}, and apt-get could not install ${PACKAGE}`
  }
  return existsSync(PROGRAM) ? undefined : `no ${PROGRAM}`
}

/** Starts blackbox_exporter on loopback. It trusts `authorities` (PEM). */
export async function startBlackbox(authorities: string): Promise<Blackbox> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-blackbox-'))
  writeFileSync(join(folder, 'ca.pem'), authorities)
  const tls_config = { ca_file: join(folder, 'ca.pem') }
  const http = { preferred_ip_protocol: 'ip4', tls_config }
  // JSON is valid YAML.
  writeFileSync(
    join(folder, 'b.yml'),
    JSON.stringify({ modules: { http_2xx: { prober: 'http', timeout: '10s', http } } }),
  )
  const port = await freePort()
  const args = [`--config.file=${folder}/b.yml`, `--web.listen-address=127.0.0.1:${port}`]
  const child: ChildProcess = spawn(PROGRAM, args, { stdio: 'ignore' })
  const base = `http://127.0.0.1:${port}`
  while ((await fetch(`${base}/-/healthy`).catch(() => undefined))?.ok !== true) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const dispatcher = new Agent({ connections: IN_FLIGHT })
  return {
    version: execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).split('\n', 1)[0] ?? '',
    probe: async (urls, count, perSecond) => {
      const paths = urls.map(
        (target) => `${base}/probe?${new URLSearchParams({ target, module: 'http_2xx' })}`,
      )
      let started = 0
      const one = async (): Promise<void> => {
        const path = paths[started % paths.length] ?? ''
        started += 1
        const { body } = await request(path, { dispatcher })
        if (!(await body.text()).includes('probe_success 1')) throw new Error(`a probe failed: ${path}`)
      }
      const before = cpuSecs(child)
      await run(one, count, perSecond)
      return ((cpuSecs(child) - before) * 1_000_000) / count
    },
    stop: async () => {
      await dispatcher.close()
      child.kill()
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

async function run(one: () => Promise<void>, count: number, perSecond: number | undefined): Promise<void> {
  let started = 0
  if (perSecond === undefined) {
    const worker = async (): Promise<void> => {
      while (started < count) {
        started += 1
        await one()
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
    return
  }
  const startedMs = performance.now()
  const underWay: Promise<void>[] = []
  while (underWay.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedMs) * perSecond) / 1_000))
    while (underWay.length < due) underWay.push(one())
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(underWay)
}

function cpuSecs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime and stime (proc(5)).
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const address = socket.address()
  await new Promise((resolve) => socket.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
