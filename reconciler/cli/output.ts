import pc from 'picocolors'

/** Where a command's words go: the result to stdout, everything about the run itself to stderr. */
export interface Output {
  readonly paint: ReturnType<typeof pc.createColors>
  readonly isJson: boolean
  /** One line or more of the result. Dropped with --json, where `document` is the result. */
  readonly result: (text: string) => void
  /** The one document of a run with --json; dropped otherwise. */
  readonly document: (value: unknown) => void
  /** What a person at a terminal wants to see pass by; dropped elsewhere. */
  readonly progress: (text: string) => void
  /** What has to be known wherever the run happens. */
  readonly notice: (text: string) => void
  readonly error: (text: string) => void
}

/** The streams of a process, and whether colours are wanted. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** An output on `streams`. NO_COLOR switches colours off, FORCE_COLOR on; otherwise a terminal has them. */
export function outputOn(streams: Streams, isJson: boolean): Output {
  const { env, stdout, stderr } = streams
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  const paint = pc.createColors((env.NO_COLOR ?? '') === '' && (forced || stdout.isTTY === true))
  const isTerminal = stderr.isTTY === true
  return {
    paint,
    isJson,
    result: (text) => {
      if (!isJson) stdout.write(`${text}\n`)
    },
    document: (value) => {
      if (isJson) stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    },
    progress: (text) => {
      if (isTerminal) stderr.write(`\r\u001b[K${text}`)
    },
    notice: (text) => {
      stderr.write(`${isTerminal ? '\r\u001b[K' : ''}${text}\n`)
    },
    error: (text) => {
      stderr.write(`${isTerminal ? '\r\u001b[K' : ''}${paint.red('error')} ${text}\n`)
    },
  }
}
