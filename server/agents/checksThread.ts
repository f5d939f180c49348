/** The thread that checks embedded regions: an agent, connected to the server that started it. */
import { parentPort, workerData } from 'node:worker_threads'
import { Agent } from '../../monitoring/agent/agent.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import { portLink } from '../../monitoring/agent/portLink.ts'
import type { ChecksSettings, FromChecks, ToChecks } from './checksMessages.ts'

/** Interval between heartbeats (milliseconds). */
const BEAT_MS = 1_000

// True because this file is started as a thread, with these settings.
const port = parentPort as NonNullable<typeof parentPort>
const { instance, version, allowedRanges, proxy } = workerData as ChecksSettings

const send = (message: FromChecks): void => port.postMessage(message)
const link = portLink({ postMessage: (request) => send({ kind: 'request', request }) })
const agent = new Agent({
  link,
  instance,
  version,
  library: checkLibrary({ allowedRanges, proxy, userAgent: `pharos/${version}` }),
  monotonicMs: () => performance.now(),
  wallMs: Date.now,
  onError: (error, region) => {
    send({ kind: 'trouble', region, reason: error instanceof Error ? error.message : String(error) })
  },
})
const beats = setInterval(() => send({ kind: 'beat', load: agent.stats }), BEAT_MS)

async function stop(): Promise<void> {
  await agent.stop()
  clearInterval(beats)
  port.close()
  // Checks in progress may take a minute, and their results are not needed.
  process.exit()
}

port.on('message', (message: ToChecks) => {
  switch (message.kind) {
    case 'regions':
      void agent.setRegions(message.regions)
      return
    case 'response':
      link.take(message.response)
      return
    case 'stop':
      void stop()
  }
})
