import type { FastifyReply } from 'fastify'
import type { Measurements } from '../../results/measurements/measurements.ts'

/** Streams of one session: one for each open tab that is visible. */
const STREAMS_MAX = 5
/** Bytes that may wait for a reader. */
const WAITING_BYTES_MAX = 256 * 1_024
/** How often a comment keeps the connection open, and how often the session is looked at (milliseconds). */
const COMMENT_MS = 20_000
const SESSION_MS = 60_000
/** Most ids of one event. */
const IDS_MAX = 200

/** What a stream is about. */
export interface LiveReader {
  readonly sessionKey: string
  readonly measurements: Measurements
  /** Whether a service belongs to the organisation of the page. */
  readonly isOwn: (serviceId: string) => Promise<boolean>
  /** Whether the session is valid, and still that of a member. */
  readonly isMember: () => Promise<boolean>
}

/**
 * Streams that tell open pages which services changed, at most once a second: `event: changed` with their ids, or with null
 * when they are many. A reader that does not read is cut off.
 */
export class LiveStreams {
  readonly #open = new Map<string, Set<FastifyReply>>()

  /** Takes over `reply`: answers 204, which ends an EventSource for good, when the session has too many streams. */
  start(reply: FastifyReply, reader: LiveReader): void {
    const { sessionKey, measurements } = reader
    const ofSession = this.#open.get(sessionKey) ?? new Set()
    if (ofSession.size >= STREAMS_MAX) {
      void reply.code(204).send()
      return
    }
    this.#open.set(sessionKey, ofSession.add(reply))
    const headers = reply.getHeaders()
    reply.hijack()
    reply.raw.setHeaders(new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])))
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    write(reply, 'retry: 3000\n\n')
    const unsubscribe = measurements.onChange((ids) => void tell(reply, reader, ids).catch(() => end(reply)))
    const comments = setInterval(() => write(reply, ': \n\n'), COMMENT_MS)
    const looks = setInterval(() => {
      reader.isMember().then(
        (isMember) => isMember || end(reply),
        () => end(reply),
      )
    }, SESSION_MS)
    reply.raw.on('close', () => {
      unsubscribe()
      clearInterval(comments)
      clearInterval(looks)
      ofSession.delete(reply)
      if (ofSession.size === 0) this.#open.delete(sessionKey)
    })
  }

  /** Ends all streams. */
  end(): void {
    for (const ofSession of this.#open.values()) for (const reply of ofSession) end(reply)
  }
}

async function tell(reply: FastifyReply, { isOwn }: LiveReader, changed: ReadonlySet<string>): Promise<void> {
  const own: string[] = []
  for (const id of changed) {
    if (own.length > IDS_MAX) break
    if (await isOwn(id)) own.push(id)
  }
  if (own.length === 0) return
  write(reply, `event: changed\ndata: ${JSON.stringify(own.length > IDS_MAX ? null : own)}\n\n`)
}

function write(reply: FastifyReply, text: string): void {
  if (reply.raw.writableLength > WAITING_BYTES_MAX) reply.raw.destroy()
  else if (!reply.raw.destroyed) reply.raw.write(text)
}

function end(reply: FastifyReply): void {
  reply.raw.end()
}
