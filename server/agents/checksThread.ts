/** The thread that checks what no agent of another machine does: an agent, linked to the server that started it. */
import { parentPort, workerData } from 'node:worker_threads'
import { Agent } from '../../monitoring/agent/agent.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import { portLink } from '../../monitoring/agent/portLink.ts'
import type { ChecksSettings, FromChecks, ToChecks } from './checksMessages.ts'

/** How often the thread says that it has its turns (milliseconds). */
const BEAT_MS = 1_000

// True because this file is started as a thread, with these settings.
const port = parentPort as NonNullable<typeof parentPort>
const { instance, version, allowedRanges } = workerData as ChecksSettings

const send = (message: FromChecks): void => port.postMessage(message)
const link = portLink({ postMessage: (request) => send({ kind: 'request', request }) })
const agent = new Agent({
  link,
  instance,
  version,
  library: checkLibrary({ allowedRanges, userAgent: `pharos/${version}` }),
  monotonicMs: () => performance.now(),
  wallMs: Date.now,
  onError: (error, region) => {
    send({ kind: 'trouble', region, reason: error instanceof Error ? error.message : String(error) })
  },
})
const beats = setInterval(() => send({ kind: 'beat', load: agent.figures }), BEAT_MS)

async function stop(): Promise<void> {
  await agent.stop()
  clearInterval(beats)
  port.close()
  // Checks under way may take a minute, and their results are not needed.
  process.exit()
}

port.on('message', (message: ToChecks) => {
  switch (message.kind) {
    case 'regions':
      void agent.setRegions(message.regions)
      return
    case 'answer':
      link.take(message.answer)
      return
    case 'stop':
      void stop()
  }
})
