import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Debian's package `prometheus` contains both.
const PROMETHEUS = '/usr/bin/prometheus'
export const PROMTOOL = '/usr/bin/promtool'

/**
 * The reason why tests with Prometheus cannot run here; null when they can. Under CI they fail instead of being
 * skipped.
 */
export const skipReason =
  (existsSync(PROMETHEUS) && existsSync(PROMTOOL)) || process.env.CI === 'true'
    ? null
    : `no prometheus at ${PROMETHEUS}`

/** Interval of queries until Prometheus has scraped (milliseconds). */
const LOOK_MS = 250

/** A sample of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** A Prometheus in a separate process. */
export interface PrometheusProcess {
  /** The result of an instant query: its status, and the samples or the error. */
  readonly query: (
    query: string,
  ) => Promise<{ readonly status: string; readonly error?: string; readonly samples: readonly Sample[] }>
  /** Resolves with the samples of `query` once there are any. */
  readonly samplesOf: (query: string) => Promise<readonly Sample[]>
  /** Ends Prometheus and removes its files. */
  readonly stop: () => Promise<void>
}

/** Starts Prometheus with a configuration. It may not respond yet. */
export async function startPrometheus(configuration: string): Promise<PrometheusProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-prometheus-'))
  writeFileSync(join(folder, 'prometheus.yml'), configuration)
  const address = `127.0.0.1:${await freePort()}`
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`]
  const child: ChildProcess = spawn(PROMETHEUS, [...args, `--web.listen-address=${address}`], {
    stdio: 'ignore',
  })
  const query: PrometheusProcess['query'] = async (text) => {
    const asked = `http://${address}/api/v1/query?${new URLSearchParams({ query: text })}`
    const response = await fetch(asked).catch(() => undefined)
    if (response === undefined || response.status === 503) return { status: 'starting', samples: [] }
    // True because the HTTP API of Prometheus has this form.
    const body = (await response.json()) as { status: string; error?: string; data?: { result: Sample[] } }
    return {
      status: body.status,
      ...(body.error === undefined ? {} : { error: body.error }),
      samples: body.data?.result ?? [],
    }
  }
  return {
    query,
    samplesOf: async (text) => {
      for (;;) {
        const { samples } = await query(text)
        if (samples.length > 0) return samples
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
    },
    stop: async () => {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  // True because the socket listens on TCP.
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  return port
}
