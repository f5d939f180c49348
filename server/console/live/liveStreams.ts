import type { FastifyReply } from 'fastify'
import type { Measurements } from '../../results/measurements/measurements.ts'

/** Streams of one session, one per visible tab. A browser has six connections to a host. */
const SESSION_STREAMS_MAX = 5
/** Streams of one person, in all sessions. */
const PERSON_STREAMS_MAX = 20
/** Maximum number of buffered bytes per stream. */
const WAITING_BYTES_MAX = 256 * 1_024
/** Intervals of comments that keep the connection open, and of checks of the session (milliseconds). */
const COMMENT_MS = 20_000
const SESSION_MS = 60_000
/** Maximum number of ids in one event. */
const IDS_MAX = 200

/** nginx, for one, would otherwise hold events back until it has some kilobytes of them. */
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }

/** The reader of a stream. */
export interface LiveReader {
  readonly personId: string
  readonly sessionKey: string
  readonly measurements: Pick<Measurements, 'onChange'>
  /** Those of the services that belong to the organisation of the page. */
  readonly ownOf: (serviceIds: ReadonlySet<string>) => Promise<readonly string[]>
  /** Whether the session is still valid, and its person a member. */
  readonly isMember: () => Promise<boolean>
}

/**
 * Event streams that tell open pages which services changed, at most once a second: `event: changed` with their ids, or
 * with null when there are too many. A stalled reader is disconnected.
 */
export class LiveStreams {
  /** Streams by person, with their session keys. */
  readonly #open = new Map<string, Map<FastifyReply, string>>()

  /**
   * Takes over `reply`. When the session or person has too many streams, responds with 204, which stops an EventSource.
   */
  start(reply: FastifyReply, reader: LiveReader): void {
    const { personId, sessionKey, measurements } = reader
    const ofPerson = this.#open.get(personId) ?? new Map<FastifyReply, string>()
    const ofSession = [...ofPerson.values()].filter((key) => key === sessionKey)
    const isFull = ofPerson.size >= PERSON_STREAMS_MAX || ofSession.length >= SESSION_STREAMS_MAX
    // HEAD gets no events, and a connection that is already closed reports no close.
    if (isFull || reply.request.method === 'HEAD' || reply.request.raw.socket.destroyed) {
      void reply.code(204).send()
      return
    }
    this.#open.set(personId, ofPerson.set(reply, sessionKey))
    const headers = reply.getHeaders()
    reply.hijack()
    reply.raw.setHeaders(new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])))
    reply.raw.writeHead(200, HEADERS)
    write(reply, 'retry: 3000\n\n')
    const unsubscribe = measurements.onChange(
      (ids) => void sendChanges(reply, reader, ids).catch(() => end(reply)),
    )
    const comments = setInterval(() => write(reply, ': \n\n'), COMMENT_MS)
    const sessionChecks = setInterval(() => {
      reader.isMember().then(
        (isMember) => isMember || end(reply),
        () => end(reply),
      )
    }, SESSION_MS)
    onceClosed(reply, () => {
      unsubscribe()
      clearInterval(comments)
      clearInterval(sessionChecks)
      ofPerson.delete(reply)
      if (ofPerson.size === 0) this.#open.delete(personId)
    })
  }

  end(): void {
    for (const ofPerson of this.#open.values()) for (const reply of ofPerson.keys()) end(reply)
  }
}

/**
 * Calls `act` once, when the stream ends or its connection closes. A pipelined response does not report the latter by
 * itself.
 */
function onceClosed({ raw, request }: FastifyReply, act: () => void): void {
  const { socket } = request.raw
  const over = (): void => {
    raw.off('close', over)
    socket.off('close', over)
    act()
  }
  raw.on('close', over)
  socket.on('close', over)
}

async function sendChanges(
  reply: FastifyReply,
  { ownOf, isMember }: LiveReader,
  changed: ReadonlySet<string>,
): Promise<void> {
  if (!(await isMember())) {
    end(reply)
    return
  }
  const own = await ownOf(changed)
  if (own.length === 0) return
  write(reply, `event: changed\ndata: ${JSON.stringify(own.length > IDS_MAX ? null : own)}\n\n`)
}

function write(reply: FastifyReply, text: string): void {
  if (reply.raw.writableLength > WAITING_BYTES_MAX) reply.raw.destroy()
  // An ended stream stays open while its reader is stalled.
  else if (!reply.raw.destroyed && !reply.raw.writableEnded) reply.raw.write(text)
}

function end(reply: FastifyReply): void {
  reply.raw.end()
}
