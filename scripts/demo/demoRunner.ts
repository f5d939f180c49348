import { type ChildProcess, spawn } from 'node:child_process'
import pc from 'picocolors'
import type { Client } from '../../api/client/client.ts'

/** The error for a step with an unexpected result, which ends the demo. */
export class DemoFailure extends Error {}

/** Result of a command. `output` is raw stdout and stderr, interleaved; `stdout` is stdout alone. */
export interface Outcome {
  readonly exitCode: number
  readonly output: string
  readonly stdout: string
}

/** One row of the table at the end. */
export interface Step {
  readonly title: string
  readonly requests: number
}

/** Folder and environment of commands. */
export interface DemoShell {
  /** Folder in which commands run. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

/** What a chapter uses. */
export interface DemoParts {
  readonly demo: DemoRunner
  readonly shell: DemoShell
  /** Root of the checkout. */
  readonly root: string
  /** Another client's access to the same organisation. */
  readonly byHand: Client
}

const COMMAND_MS_MAX = 60_000
/** Maximum time until a change is noticed, and the interval of checks for it (milliseconds). */
const WAIT_MS_MAX = 30_000
const LOOK_MS = 500

/** Runs the demo and prints the commands, as a user types them, with their result in a line or two. */
export class DemoRunner {
  readonly steps: Step[] = []
  readonly #write: (text: string) => void
  readonly #countRequests: () => Promise<number>
  #counted = 0
  #running: ChildProcess | undefined

  constructor(write: (text: string) => void, countRequests: () => Promise<number>) {
    this.#write = write
    this.#countRequests = countRequests
  }

  /** Starts a chapter. */
  chapter(title: string): void {
    this.#write(`\n${pc.bold(title)}\n`)
  }

  /** Prints one line of explanation after an empty line. */
  say(text: string): void {
    this.#write(`\n  ${text}\n`)
  }

  /** Prints a result; lines after the first are shown below it. */
  outcome(text: string): void {
    const [first, ...rest] = text.split('\n')
    this.#write(`  ${pc.green('✓')} ${first}\n`)
    for (const line of rest) this.#write(`      ${line}\n`)
  }

  /** Shows a direct request to the API, without Terraform or git. */
  request(text: string): void {
    this.#write(`  ${pc.dim('>')} ${pc.yellow(text)}\n`)
  }

  /** Shows a command without running it here: for background processes. */
  typed(command: string): void {
    this.#write(`  ${pc.dim('$')} ${pc.cyan(command)}\n`)
  }

  /**
   * Runs `command` in a shell in `shell` and returns its result. Throws a DemoFailure with the end of its output when
   * its exit code is not `exitCode`.
   */
  async type(command: string, shell: DemoShell, exitCode = 0): Promise<Outcome> {
    this.typed(command)
    const outcome = await this.#run(command, shell)
    if (outcome.exitCode === exitCode) return outcome
    const end = outcome.output.trimEnd().split('\n').slice(-30).join('\n')
    throw new DemoFailure(`"${command}" exited with ${outcome.exitCode} instead of ${exitCode}:\n${end}`)
  }

  /**
   * Repeats `command`, shown once, until `isDone` is true for its output. Returns that output. Throws a DemoFailure
   * when it never is.
   */
  async typeUntil(command: string, shell: DemoShell, isDone: (output: string) => boolean): Promise<string> {
    this.typed(command)
    return this.until(command, async () => {
      const { output } = await this.#run(command, shell)
      return isDone(output) ? output : undefined
    })
  }

  /** Repeats `look` until it returns a value. Throws a DemoFailure that names `wanted` when it never does. */
  async until<Found>(wanted: string, look: () => Promise<Found | undefined>): Promise<Found> {
    const deadlineMs = performance.now() + WAIT_MS_MAX
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (performance.now() > deadlineMs) throw new DemoFailure(`timed out waiting for ${wanted}`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  /** Ends the running command, if any. */
  stop(): void {
    this.#running?.kill('SIGTERM')
  }

  /** Ends a step and prints the number of its requests. */
  async reportRequests(title: string): Promise<void> {
    const requests = await this.endStep(title)
    this.outcome(requests === 1 ? '1 API request' : `${requests} API requests`)
  }

  /** Ends a step. Returns the number of requests that the API served since the last one, for the table. */
  async endStep(title: string): Promise<number> {
    const counted = await this.#countRequests()
    const requests = counted - this.#counted
    this.#counted = counted
    this.steps.push({ title, requests })
    return requests
  }

  #run(command: string, { folder, environment }: DemoShell): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', command], {
        cwd: folder,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: COMMAND_MS_MAX,
      })
      this.#running = child
      let output = ''
      let stdout = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
          if (stream === child.stdout) stdout += text
        })
      }
      child.on('error', reject)
      child.on('close', (code) => {
        this.#running = undefined
        resolve({ exitCode: code ?? -1, output, stdout })
      })
    })
  }
}

/** Throws a DemoFailure with `claim` unless `holds`. */
export function expectThat(holds: boolean, claim: string): void {
  if (!holds) throw new DemoFailure(`unexpected result: ${claim}`)
}
