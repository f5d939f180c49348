import { type DestinationStream, pino } from 'pino'

/**
 * Writes log lines to stderr at once. A line that cannot be written, such as to a file on a full disk, is lost: a program
 * that monitors must not end with its log.
 */
export function stderrLog(): DestinationStream {
  const open = () => {
    const destination = pino.destination({ fd: 2, sync: true })
    // Without a listener, an error would end the process. The old stream would keep its unwritten lines in memory.
    destination.on('error', () => {
      stream = open()
    })
    return destination
  }
  let stream = open()
  return { write: (line) => stream.write(line) }
}
