import pc from 'picocolors'
import { visible } from '../../api/contract/visibleText.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import type { Failure } from '../run/failure.ts'
import { type Format, isLines } from './format.ts'
import { problemAnnotation } from './githubAnnotation.ts'

/** The output of a command: its result on stdout, messages about the run on stderr. */
export interface Output {
  readonly paint: ReturnType<typeof pc.createColors>
  /** Lines of the result. Dropped in formats that are one document, whose result is `closing`. */
  readonly result: (text: string) => void
  /** Problems and warnings, one per line, in a form that editors, terminals and GitHub recognise. Dropped like `result`. */
  readonly problems: (problems: readonly ManifestProblem[]) => void
  /** The same as annotations of GitHub only, for problems that other lines report in other formats. */
  readonly annotations: (problems: readonly ManifestProblem[]) => void
  /** The final output of a run, in every format. */
  readonly closing: (text: string) => void
  /**
   * Progress: a transient line on a terminal, otherwise a line on stderr at most every ten seconds. An empty text clears the
   * transient line. Dropped with --quiet.
   */
  readonly progress: (text: string) => void
  /** A transient line on a terminal; dropped elsewhere. */
  readonly passing: (text: string) => void
  /** A message on stderr. */
  readonly notice: (text: string) => void
  readonly error: (text: string) => void
  /** Calls `listener` when the reader of the result has closed it, as after `| head`. */
  readonly onReaderGone: (listener: () => void) => void
}

/** The streams, the environment and the working directory of a process. */
export interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Monotonic milliseconds; the clock of the machine when absent. */
  readonly nowMs?: () => number
}

/** Time between two lines of progress when stderr is not a terminal (milliseconds). */
const PROGRESS_MS = 10_000
/** The same on a terminal (milliseconds). */
const TERMINAL_PROGRESS_MS = 100

/** Whether `stream` is a terminal that supports escape sequences. */
function isTerminal(stream: Streams['stdout'], env: Streams['env']): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** NO_COLOR disables colours, FORCE_COLOR enables them (0 and false disable); otherwise terminals have them. */
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

/** Writes why a command could not run, on one line unless the error is unexpected. */
export function reportFailure({ code, message }: Failure, output: Output): void {
  output.error(code === 'E_INTERNAL' ? message : visible(message))
}
