import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { Outgoing } from '../../api/network/outgoing.ts'
import { notRecently } from '../../api/runtime/notRecently.ts'
import { stderrLog } from '../../api/runtime/stderrLog.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { Agent, type LocalFault } from '../agent/agent.ts'
import { memoryBacklog } from '../agent/backlog.ts'
import { checkLibrary } from '../agent/checkLibrary.ts'
import { httpsLink } from '../agent/httpsLink.ts'
import { openSpool } from '../agent/spool.ts'
import { serveMetrics } from './agentMetrics.ts'

/** In a sync, stands for the region of the token. */
const REGION_OF_TOKEN = ''
/** Interval in which the same problem is logged once (milliseconds). */
const TROUBLE_LOG_MS = 60_000
const TROUBLES_MAX = 100
/** SIGHUP arrives when the terminal closes. It must not lose results either. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

const SUSPECT =
  'almost no host can be reached: results are unknown until the network of this machine works again'

const LOCAL_FAULTS: Readonly<Record<LocalFault, string>> = {
  check: 'this machine could not run checks: their results are unknown',
  spool: 'the spool could not be written: results wait in memory',
}

const EXIT_STOPPED = 0
const EXIT_REFUSED = 3

/** Settings of the agent. */
export interface RunSettings {
  readonly server: URL
  readonly token: string
  /** Proxy and CA certificates of the link to the server. Checks use neither. */
  readonly outgoing: Outgoing
  readonly allowedRanges: readonly string[]
  /** URL of the proxy for checks; without a proxy when absent. */
  readonly checkProxy?: string | undefined
  /** `null` for memory only. */
  readonly spool: { readonly folder: string; readonly bytesMax: number } | null
  /** `null` for no metrics. */
  readonly metricsPort: number | null
  readonly logLevel: string
  readonly write: (text: string) => void
}

/** Runs the agent until a signal or the server ends it; resolves to the exit code. Rejects when it cannot start. */
export async function runAgent(settings: RunSettings): Promise<number> {
  const { server, token, outgoing, allowedRanges, checkProxy, logLevel, write } = settings
  const { version } = packageJson
  const log = pino({ level: logLevel, base: null }, stderrLog())
  const library = checkLibrary({ allowedRanges, proxy: checkProxy, userAgent: `pharos/${version}` })
  const backlog =
    settings.spool === null
      ? memoryBacklog()
      : await openSpool({
          ...settings.spool,
          onTrouble: (trouble) => log.warn(trouble, 'a part of the spool was lost'),
        })
  const link = httpsLink({ server, token, ...outgoing })
  const shouldLog = notRecently(TROUBLE_LOG_MS, TROUBLES_MAX)
  let isConnected = false
  const ended = endOf()
  const agent = new Agent({
    ...{ link, backlog, library, version },
    instance: randomUUID(),
    monotonicMs: () => performance.now(),
    wallMs: Date.now,
    onError: (error) => {
      isConnected = false
      const reason = error instanceof Error ? error.message : String(error)
      if (shouldLog(reason))
        log.warn({ reason }, 'sync with the server failed: checks continue, results wait')
    },
    onSync: () => {
      if (!isConnected) log.info({ server: server.origin }, 'connected')
      isConnected = true
    },
    onRefused: (error) => ended.refuse(error.message),
    onLocalFault: (fault, reason) => {
      // The reason is not used as the key, because it names an address that differs between checks.
      if (shouldLog(LOCAL_FAULTS[fault])) log.error({ reason }, LOCAL_FAULTS[fault])
    },
    onSuspect: (isSuspect) => {
      if (isSuspect) log.error(SUSPECT)
      else log.info('hosts can be reached again: their results count again')
    },
  })
  const metrics =
    settings.metricsPort === null
      ? undefined
      : await serveMetrics(settings.metricsPort, () => ({ ...agent.stats, isConnected }))
  await agent.setRegions([REGION_OF_TOKEN])
  write(`running checks for ${server.origin}; ${backlog.count} results wait to be delivered\n`)
  if (metrics !== undefined) write(`metrics on ${metrics.url}\n`)
  const { code, reason } = await ended.promise
  log.info({ reason }, 'stopping')
  await agent.stop()
  link.close()
  await metrics?.close()
  log.info('stopped')
  if (code !== EXIT_STOPPED) process.stderr.write(`pharos-agent: ${reason}\n`)
  return code
}

/** The event that ends the agent: a signal, or a server that refuses its token. */
function endOf() {
  const end: { refuse: (reason: string) => void } = { refuse: () => {} }
  const promise = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    end.refuse = (reason) => resolve({ code: EXIT_REFUSED, reason })
    for (const signal of STOP_SIGNALS)
      process.once(signal, () => resolve({ code: EXIT_STOPPED, reason: signal }))
  })
  return { promise, refuse: (reason: string) => end.refuse(reason) }
}
