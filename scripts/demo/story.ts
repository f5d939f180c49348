import { type ChildProcess, spawn } from 'node:child_process'
import pc from 'picocolors'

/** A step that did not come out as told: the demo ends with this as its reason. */
export class DemoFailure extends Error {}

/** What a command left behind. `output` is stdout and stderr as they came. */
export interface Outcome {
  readonly exitCode: number
  readonly output: string
}

/** One line of the table at the end. */
export interface Step {
  readonly title: string
  readonly requests: number
}

export interface PlanInput {
  /** Folder in which commands are typed. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

const COMMAND_MS_MAX = 60_000

/** Tells the demo as it goes: the commands as a user types them, and their outcome in a line or two. */
export class Story {
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

  /** One line of explanation, after an empty one. */
  say(text: string): void {
    this.#write(`\n  ${text}\n`)
  }

  /** What came out; lines after the first are shown below it. */
  outcome(text: string): void {
    const [first, ...rest] = text.split('\n')
    this.#write(`  ${pc.green('✓')} ${first}\n`)
    for (const line of rest) this.#write(`      ${line}\n`)
  }

  /** Shows a request that somebody makes to the API, without Terraform and without git. */
  request(text: string): void {
    this.#write(`  ${pc.dim('>')} ${pc.yellow(text)}\n`)
  }

  /** Shows a command without running it here: for what runs in the background. */
  typed(command: string): void {
    this.#write(`  ${pc.dim('$')} ${pc.cyan(command)}\n`)
  }

  /**
   * Types `command` into a shell in `scene` and returns what it left. Throws a DemoFailure with the end of its
   * output when it exits otherwise than with `exitCode`.
   */
  async type(command: string, scene: PlanInput, exitCode = 0): Promise<Outcome> {
    this.typed(command)
    const outcome = await this.#run(command, scene)
    if (outcome.exitCode === exitCode) return outcome
    const end = outcome.output.trimEnd().split('\n').slice(-30).join('\n')
    throw new DemoFailure(`"${command}" exited with ${outcome.exitCode} instead of ${exitCode}:\n${end}`)
  }

  /** Ends the command that runs, if one does. */
  stop(): void {
    this.#running?.kill('SIGTERM')
  }

  /** Ends a step and tells how many requests it took. */
  async tellRequests(title: string): Promise<void> {
    const requests = await this.endStep(title)
    this.outcome(requests === 1 ? '1 API request' : `${requests} API requests`)
  }

  /** Ends a step: counts the requests that the API answered since the last one, for the table. */
  async endStep(title: string): Promise<number> {
    const counted = await this.#countRequests()
    const requests = counted - this.#counted
    this.#counted = counted
    this.steps.push({ title, requests })
    return requests
  }

  #run(command: string, { folder, environment }: PlanInput): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', command], {
        cwd: folder,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: COMMAND_MS_MAX,
      })
      this.#running = child
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      child.on('error', reject)
      child.on('close', (code) => {
        this.#running = undefined
        resolve({ exitCode: code ?? -1, output })
      })
    })
  }
}

/** Throws a DemoFailure that says `claim` when it does not hold. */
export function expectThat(holds: boolean, claim: string): void {
  if (!holds) throw new DemoFailure(`this did not come out as told: ${claim}`)
}
