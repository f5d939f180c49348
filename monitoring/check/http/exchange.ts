import type { Socket } from 'node:net'
import type { AttemptClock } from '../outcome/attemptClock.ts'
import { CheckFault } from '../outcome/reason.ts'
import { JoinedBytes } from './joinedBytes.ts'
import type { ResponseHead } from './responseHead.ts'
import { type ReadFault, ResponseReader } from './responseReader.ts'

/** The limit for reading a body. */
export interface BodyLimit {
  readonly bytesMax: number
  /** The action beyond the limit: reading stops (`cut`), or the check fails. */
  readonly whenMore: 'cut' | (() => CheckFault)
}

/** A response with the times at which its parts had arrived (microseconds since the attempt began). */
export interface Exchanged {
  readonly head: ResponseHead
  readonly headAtUs: number
  readonly body: Buffer
  /** Time when the body was complete; absent when it was cut or not read. */
  readonly bodyAtUs?: number
}

const FAULT_TEXTS = {
  closed_early: 'the server closed the connection before the response was complete',
  not_http: 'the response is not valid HTTP/1.1',
  headers_too_large: 'the headers of the response have more than 64 KiB',
} as const satisfies Record<ReadFault, string>

/**
 * Sends `request` over `socket`, which has no other use, and reads the response. `bodyLimitFor` is called once with the
 * head; its result `undefined` leaves the body unread. Rejects with CheckFault.
 */
export function exchange(
  socket: Socket,
  request: Buffer,
  bodyLimitFor: (head: ResponseHead) => BodyLimit | undefined,
  clock: AttemptClock,
): Promise<Exchanged> {
  return clock.wait('wait', (resolve, reject) => {
    let body = new JoinedBytes(0)
    let head: ResponseHead | undefined
    let limit: BodyLimit | undefined
    let headAtUs = 0
    let isOver = false
    const finish = (bodyAtUs?: number): void => {
      if (isOver || head === undefined) return
      isOver = true
      const read = { head, headAtUs, body: body.all() }
      resolve(bodyAtUs === undefined ? read : { ...read, bodyAtUs })
    }
    const fail = (fault: CheckFault): void => {
      isOver = true
      reject(fault)
    }
    const reader = new ResponseReader({
      onHead: (received) => {
        head = received
        headAtUs = clock.elapsedUs()
        limit = bodyLimitFor(received)
        if (limit === undefined) return finish()
        body = new JoinedBytes(limit.bytesMax)
        clock.enter('body')
      },
      onBody: (part) => {
        if (isOver || limit === undefined) return
        body.push(part)
        if (body.length <= limit.bytesMax) return
        if (limit.whenMore === 'cut') finish()
        else fail(limit.whenMore())
      },
      onEnd: () => finish(clock.elapsedUs()),
      onFault: (fault) => fail(new CheckFault(fault, FAULT_TEXTS[fault])),
    })
    listen(socket, reader, fail, () => isOver)
    socket.write(request)
    return () => socket.destroy()
  })
}

function listen(
  socket: Socket,
  reader: ResponseReader,
  fail: (fault: CheckFault) => void,
  isOver: () => boolean,
): void {
  socket.on('data', (bytes: Buffer) => {
    if (!isOver()) reader.push(bytes)
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (isOver()) return
    const code = error.code ?? ''
    // In TLS 1.3 a server that requires a client certificate refuses only now.
    const isTls = code.startsWith('ERR_SSL')
    fail(isTls ? new CheckFault('tls_failed', `TLS failed (${code})`) : closedEarly(code))
  })
  socket.on('close', () => {
    if (!isOver()) reader.close()
  })
  socket.on('end', () => {
    if (!isOver()) reader.close()
  })
}

function closedEarly(code: string): CheckFault {
  const how = code === '' ? '' : ` (${code})`
  return new CheckFault('closed_early', `${FAULT_TEXTS.closed_early}${how}`)
}
