import pc from 'picocolors'
import { visible } from '../../api/contract/visibleText.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import type { Failure } from '../run/failure.ts'
import { type Format, isLines } from './format.ts'
import { problemAnnotation } from './githubAnnotation.ts'

/** Where a command's words go: the result to stdout, everything about the run itself to stderr. */
export interface Output {
  readonly paint: ReturnType<typeof pc.createColors>
  /** One line or more of the result. Dropped in formats that are one document, where `closing` is the result. */
  readonly result: (text: string) => void
  /** Problems and warnings, one to a line, as editors, terminals and GitHub find their places. Dropped like `result`. */
  readonly problems: (problems: readonly ManifestProblem[]) => void
  /** The same as marks of GitHub only: elsewhere other lines tell of them. */
  readonly annotations: (problems: readonly ManifestProblem[]) => void
  /** What a run ends with, written whatever the format. */
  readonly closing: (text: string) => void
  /**
   * How far the run is: passes by at a terminal, and is a line of stderr every ten seconds or more elsewhere. Empty
   * clears the terminal. Dropped with --quiet.
   */
  readonly progress: (text: string) => void
  /** What a person at a terminal wants to see pass by; dropped elsewhere. */
  readonly passing: (text: string) => void
  /** What has to be known wherever the run happens. */
  readonly notice: (text: string) => void
  readonly error: (text: string) => void
  /** Calls `listener` as soon as the reader of the result is gone, as after `| head`. */
  readonly onReaderGone: (listener: () => void) => void
}

/** The streams of a process, whether colours are wanted, and the folder in which it was started. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Monotonic milliseconds; the clock of the machine when absent. */
  readonly nowMs?: () => number
}

/** Time between two lines of progress where stderr is no terminal (milliseconds). */
const PROGRESS_MS = 10_000
/** The same at a terminal (milliseconds): more often than an eye follows costs time. */
const TERMINAL_PROGRESS_MS = 100

/** Whether `stream` takes what terminals obey: one that TERM calls dumb would show it as letters. */
function isTerminal(stream: Streams['stdout'], env: Streams['env']): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** NO_COLOR switches colours off, FORCE_COLOR on (off with 0 or false); otherwise a terminal has them. */
function paintFor(stream: Streams['stdout'], env: Streams['env']): Output['paint'] {
  const { NO_COLOR = '', FORCE_COLOR = '' } = env
  const isForcedOff = FORCE_COLOR === '0' || FORCE_COLOR === 'false'
  const isWanted = FORCE_COLOR !== '' || isTerminal(stream, env)
  return pc.createColors(NO_COLOR === '' && !isForcedOff && isWanted)
}

/** An output on `streams`. */
export function outputOn(streams: Streams, format: Format, isQuiet = false): Output {
  const { env, stdout, stderr, cwd, nowMs = () => performance.now() } = streams
  const paint = paintFor(stdout, env)
  const errorPaint = paintFor(stderr, env)
  const start = isTerminal(stderr, env) ? '\r\u001b[K' : ''
  let shownAtMs = nowMs()
  const passing = (text: string): void => {
    if (start !== '' && !isQuiet) stderr.write(`${start}${text}`)
  }
  const result = (text: string): void => {
    if (isLines(format)) stdout.write(`${text}\n`)
  }
  const problemLine = (problem: ManifestProblem): string => {
    if (format === 'github') return problemAnnotation(problem, cwd)
    const text = formatProblem(problem)
    return problem.code.startsWith('W_') ? paint.yellow(text) : paint.red(text)
  }
  return {
    paint,
    result,
    problems: (problems) => {
      if (problems.length > 0) result(problems.map(problemLine).join('\n'))
    },
    annotations: (problems) => {
      if (format === 'github') for (const problem of problems) result(problemLine(problem))
    },
    closing: (text) => {
      stdout.write(`${text}\n`)
    },
    progress: (text) => {
      if (start !== '' && text === '') return passing(text)
      const isDue = nowMs() - shownAtMs >= (start === '' ? PROGRESS_MS : TERMINAL_PROGRESS_MS)
      if (isQuiet || text === '' || !isDue) return
      shownAtMs = nowMs()
      if (start === '') stderr.write(`${text}\n`)
      else passing(text)
    },
    passing,
    notice: (text) => {
      stderr.write(`${start}${text}\n`)
    },
    error: (text) => {
      stderr.write(`${start}${errorPaint.red('error')} ${text}\n`)
    },
    onReaderGone: (listener) => {
      stdout.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') listener()
      })
    },
  }
}

/** Writes on one line why a command could not run; an unexpected error takes as many as it needs. */
export function reportFailure({ code, message }: Failure, output: Output): void {
  output.error(code === 'E_INTERNAL' ? message : visible(message))
}
