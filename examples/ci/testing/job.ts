import { spawn } from 'node:child_process'
import { load } from 'js-yaml'

/** What a job, or a step of one, left behind. `output` is stdout and stderr as they came. */
export interface StepRun {
  readonly exitCode: number | null
  readonly output: string
}

/** What ran of a recipe, by the names of its jobs. */
export type Jobs = Readonly<Record<string, StepRun>>

/** What a platform gives to the jobs of a recipe. */
export interface Runner {
  /** The recipe, as text. */
  readonly recipe: string
  /** What the platform knows, by the names that the recipe calls it. */
  readonly context: Readonly<Record<string, string>>
  /** The environment of a machine that runs jobs. */
  readonly machine: NodeJS.ProcessEnv
  /** Makes a fresh checkout of the newest commit, as a job gets it. */
  readonly checkout: () => string
  /** Folder for what jobs keep for later ones. */
  readonly artifacts: string
}

/** Runs `script` as platforms do. */
export function bash(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<StepRun> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
}

/** Whether `condition`, equalities and inequalities joined by `&&`, holds for what `value` gives for a term. */
export function holds(condition: string, value: (term: string) => string): boolean {
  return condition.split(' && ').every((part) => {
    const [left = '', operator, right = ''] = part.split(/ (==|!=) /)
    return (value(left) === value(right)) === (operator === '==')
  })
}

/** Names of the jobs of the recipe `text`, sorted. */
export function jobsIn(text: string): readonly string[] {
  const recipe = load(text) as { jobs?: object } // True because both are mappings.
  const jobs = Object.entries(recipe.jobs ?? recipe).filter(([, job]) => 'steps' in job || 'script' in job)
  return jobs.map(([name]) => name).sort()
}
