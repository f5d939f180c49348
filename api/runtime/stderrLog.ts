import { write } from 'node:fs'
import type { DestinationStream } from 'pino'

const STDERR = 2
/** Maximum length of the lines that wait for the reader of stderr (characters). */
const WAITING_CHARS_MAX = 1_048_576
/** Time after which a full stderr that does not block is tried again (milliseconds). */
const AGAIN_MS = 100

/**
 * Writes log lines to `descriptor`, stderr when absent, without waiting for it: a program that monitors must not stop
 * with its log. A line that cannot be written, such as to a file on a full disk, is lost. So are lines beyond a MiB
 * that a pipe's reader does not read; the next line says how many.
 */
export function stderrLog(descriptor = STDERR): DestinationStream {
  let waiting = ''
  let lost = 0
  let isWriting = false

  const send = (bytes: Buffer): void => {
    isWriting = true
    write(descriptor, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(send, AGAIN_MS, bytes)
      if (error === null && written < bytes.length) return send(bytes.subarray(written))
      isWriting = false
      if (waiting !== '') sendWaiting()
    })
  }
  const sendWaiting = (): void => {
    const lines = lost === 0 ? waiting : `${waiting}${linesLost(lost)}`
    waiting = ''
    lost = 0
    send(Buffer.from(lines))
  }
  return {
    write: (line) => {
      if (waiting.length + line.length > WAITING_CHARS_MAX) {
        lost += 1
        return
      }
      waiting += line
      if (!isWriting) sendWaiting()
    },
  }
}

function linesLost(lines: number): string {
  return `${JSON.stringify({ level: 40, time: Date.now(), lines, msg: 'lines of the log were lost: nothing read stderr' })}\n`
}
