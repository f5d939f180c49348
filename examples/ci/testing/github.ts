import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { bash, holds, type Jobs, type Runner, type StepRun } from './job.ts'

interface Workflow {
  readonly on: Readonly<Record<string, { readonly types?: readonly string[] } | readonly object[]>>
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly if: string
  readonly needs?: string
  readonly outputs?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

interface Step {
  readonly id?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, string>>
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Actions that prepare what the machine of a test has. */
const PREPARING = ['actions/checkout@v6', 'actions/setup-node@v6', 'hashicorp/setup-terraform@v4']

/** The environment of a machine of GitHub's, for pull request 7; writes the event into `folder`. */
export function githubMachine(folder: string, apiUrl: string): NodeJS.ProcessEnv {
  const eventFile = join(folder, 'event.json')
  writeFileSync(eventFile, JSON.stringify({ pull_request: { number: 7 } }))
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: apiUrl,
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_EVENT_PATH: eventFile,
  }
}

/**
 * Runs what GitHub would run: every job whose condition holds and whose need succeeded, step by step until one fails.
 */
export async function runGithub({
  recipe,
  context: given,
  machine,
  checkout,
  artifacts,
}: Runner): Promise<Jobs> {
  const workflow = load(recipe) as Workflow // True because GitHub takes no other.
  const context: Record<string, string> = { ...given }
  const jobs: Record<string, StepRun> = {}
  if (!isTriggered(workflow, context)) return jobs
  for (const [name, job] of Object.entries(workflow.jobs)) {
    if (job.needs !== undefined && jobs[job.needs]?.exitCode !== 0) continue
    if (!holds(job.if, (term) => termIn(term, context))) continue
    const place = checkout()
    context['github.workspace'] = place
    let last: StepRun = { exitCode: 0, output: '' }
    for (const step of job.steps) {
      if (step.uses !== undefined) {
        runAction(step, place, artifacts)
        continue
      }
      const env = { ...machine, ...filledIn({ ...workflow.env, ...step.env }, context) }
      const run = await runStep(step, place, env, context)
      last = { exitCode: run.exitCode, output: `${last.output}${run.output}` }
      if (run.exitCode !== 0) break
    }
    jobs[name] = last
    for (const [key, value] of Object.entries(filledIn(job.outputs ?? {}, context))) {
      context[`needs.${name}.outputs.${key}`] = value
    }
  }
  return jobs
}

/** Whether the event of `context` starts `workflow`. */
function isTriggered({ on }: Workflow, context: Readonly<Record<string, string>>): boolean {
  const trigger = on[context['github.event_name'] ?? '']
  if (trigger === undefined) return false
  const action = context['github.event.action']
  return !('types' in trigger) || action === undefined || trigger.types?.includes(action) === true
}

/** A step that changes services, and must end in order when it is cancelled. */
const CHANGING = /^(?:pharos|terraform\b.*) (?:apply|destroy)\b/m

/** Runs the shell of a step; its outputs become part of `context`. */
async function runStep(
  { id, run: script = '' }: Step,
  place: string,
  env: NodeJS.ProcessEnv,
  context: Record<string, string>,
): Promise<StepRun> {
  if (CHANGING.test(script)) throw new Error(`GitHub cancels only the shell, so write exec before ${script}`)
  const outputs = `${place}.outputs`
  appendFileSync(outputs, '')
  const run = await bash(script, place, { ...env, GITHUB_OUTPUT: outputs, GITHUB_PATH: `${place}.paths` })
  for (const [, key = '', value = ''] of readFileSync(outputs, 'utf8').matchAll(/^(\w+)=(.*)$/gm)) {
    context[`steps.${id}.outputs.${key}`] = value
  }
  rmSync(outputs)
  return run
}

function runAction({ uses = '', with: given = {} }: Step, place: string, artifacts: string): void {
  const { name = '', path = '' } = given
  const kept = join(artifacts, name)
  if (uses === 'actions/upload-artifact@v7') cpSync(join(place, path), join(kept, path))
  else if (uses === 'actions/download-artifact@v8') cpSync(kept, join(place, path), { recursive: true })
  else if (!PREPARING.includes(uses)) throw new Error(`nothing is known of ${uses}: say here what it does`)
}

function termIn(term: string, context: Readonly<Record<string, string>>): string {
  const text = /^'(.*)'$/.exec(term)?.[1]
  const value = text ?? context[term]
  if (value === undefined) throw new Error(`nothing is known of ${term}`)
  return value
}

function filledIn(
  env: Readonly<Record<string, string>>,
  context: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, term: string) => termIn(term, context)),
    ]),
  )
}
