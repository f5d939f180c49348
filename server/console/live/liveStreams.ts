import type { FastifyReply } from 'fastify'
import type { Measurements } from '../../results/measurements/measurements.ts'

/** Streams of one session: one for each open tab that is visible. A browser has six connections to a host. */
const SESSION_STREAMS_MAX = 5
/** Streams of one person, who may sign in as often as she likes. */
const PERSON_STREAMS_MAX = 20
/** Bytes that may wait for a reader. */
const WAITING_BYTES_MAX = 256 * 1_024
/** How often a comment keeps the connection open, and how often the session is looked at (milliseconds). */
const COMMENT_MS = 20_000
const SESSION_MS = 60_000
/** Most ids of one event. */
const IDS_MAX = 200

/** What a stream is about. */
export interface LiveReader {
  readonly personId: string
  readonly sessionKey: string
  readonly measurements: Pick<Measurements, 'onChange'>
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
  /** Those of each person, with the key of their session. */
  readonly #open = new Map<string, Map<FastifyReply, string>>()

  /** Takes over `reply`: answers 204, which ends an EventSource for good, when the session or person has too many streams. */
  start(reply: FastifyReply, reader: LiveReader): void {
    const { personId, sessionKey, measurements } = reader
    const ofPerson = this.#open.get(personId) ?? new Map<FastifyReply, string>()
    const ofSession = [...ofPerson.values()].filter((key) => key === sessionKey)
    const isFull = ofPerson.size >= PERSON_STREAMS_MAX || ofSession.length >= SESSION_STREAMS_MAX
    // Nothing would ever be sent for HEAD, and the close of a connection that is closed already is not reported again.
    if (isFull || reply.request.method === 'HEAD' || reply.request.raw.socket.destroyed) {
      void reply.code(204).send()
      return
    }
    this.#open.set(personId, ofPerson.set(reply, sessionKey))
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
    whenOver(reply, () => {
      unsubscribe()
      clearInterval(comments)
      clearInterval(looks)
      ofPerson.delete(reply)
      if (ofPerson.size === 0) this.#open.delete(personId)
    })
  }

  /** Ends all streams. */
  end(): void {
    for (const ofPerson of this.#open.values()) for (const reply of ofPerson.keys()) end(reply)
  }
}

/**
 * Calls `act` once: when a stream has been sent, or its connection is closed, which a pipelined answer behind others
 * does not learn by itself.
 */
function whenOver({ raw, request }: FastifyReply, act: () => void): void {
  const { socket } = request.raw
  const over = (): void => {
    raw.off('close', over)
    socket.off('close', over)
    act()
  }
  raw.on('close', over)
  socket.on('close', over)
}

async function tell(
  reply: FastifyReply,
  { isOwn, isMember }: LiveReader,
  changed: ReadonlySet<string>,
): Promise<void> {
  if (!(await isMember())) {
    end(reply)
    return
  }
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
  // A stalled reader keeps an ended stream open for a while.
  else if (!reply.raw.destroyed && !reply.raw.writableEnded) reply.raw.write(text)
}

function end(reply: FastifyReply): void {
  reply.raw.end()
}
