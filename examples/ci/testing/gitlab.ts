import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { bash, holds, type Jobs, type Runner, type StepRun } from './job.ts'

interface Pipeline {
  readonly [job: string]: object
  readonly variables?: Readonly<Record<string, string>>
  readonly default?: { readonly before_script: readonly string[] }
}

interface Job {
  readonly script: readonly string[]
  readonly rules: readonly { readonly if: string }[]
  readonly extends?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly before_script?: readonly string[]
  readonly environment?: string | { readonly action?: 'stop' }
  readonly needs?: readonly string[]
  readonly artifacts?: { readonly paths?: readonly string[] }
}

/** The event of an environment that GitLab stops, because its merge request was merged or closed. */
export const STOP = 'stop'

/** Variables that GitLab sets for a pipeline of the source `event` on the default branch, or of merge request 7. */
export function gitlabVariables(event: string, apiUrl: string): Readonly<Record<string, string>> {
  const [source = '', fork] = event.split(' ')
  const isRequest = source === 'merge_request_event' || source === STOP
  return {
    GITLAB_TOKEN: 'platform-token',
    CI_PIPELINE_SOURCE: source,
    ...(isRequest
      ? { CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_PROJECT_ID: '3' }
      : { CI_COMMIT_BRANCH: 'main' }),
    CI_DEFAULT_BRANCH: 'main',
    CI_API_V4_URL: apiUrl,
    CI_PROJECT_ID: fork === undefined ? '3' : '4',
  }
}

/** Runs what GitLab would run: every job whose rule holds and whose needs succeeded, its lines in one shell. */
export async function runGitlab({
  recipe,
  context: { CI_PIPELINE_SOURCE: source = '', ...others },
  machine,
  checkout,
  artifacts,
}: Runner): Promise<Jobs> {
  const isStop = source === STOP
  // The job that stops an environment belongs to the pipeline that started it.
  const context: Readonly<Record<string, string>> = {
    ...others,
    CI_PIPELINE_SOURCE: isStop ? 'merge_request_event' : source,
  }
  const pipeline = load(recipe) as Pipeline // True because GitLab takes no other.
  const variable = (term: string): string =>
    term.replace(/^"(.*)"$/, '$1').replace(/^\$(\w+)$/, (_, name: string) => context[name] ?? '')
  const jobs: Record<string, StepRun> = {}
  for (const [name, entry] of Object.entries(pipeline)) {
    if (!('script' in entry)) continue
    const own = entry as Job // True because GitLab takes no other.
    const job: Job = { ...(own.extends === undefined ? {} : pipeline[own.extends]), ...own }
    if (isOfStop(job) !== isStop) continue
    if (!job.rules.some((rule) => holds(rule.if, variable))) continue
    if (job.needs?.some((needed) => jobs[needed]?.exitCode !== 0) === true) continue
    const place = checkout()
    if (job.needs !== undefined && existsSync(artifacts)) cpSync(artifacts, place, { recursive: true })
    const given: Readonly<Record<string, string>> = { ...context, CI_PROJECT_DIR: place }
    const variables = Object.entries({ ...pipeline.variables, ...job.variables }).map(([key, value]) => [
      key,
      value.replaceAll(/\$(\w+)/g, (_, known: string) => given[known] ?? ''),
    ])
    const lines = [...(job.before_script ?? pipeline.default?.before_script ?? []), ...job.script]
    // Variables of the project take precedence over those of the recipe.
    jobs[name] = await bash(lines.join('\n'), place, {
      ...machine,
      ...Object.fromEntries(variables),
      ...given,
    })
    for (const path of job.artifacts?.paths ?? []) {
      if (existsSync(join(place, path))) cpSync(join(place, path), join(artifacts, path))
    }
  }
  return jobs
}

/** Whether GitLab runs `job` only to stop its environment. */
function isOfStop({ environment }: Job): boolean {
  return typeof environment === 'object' && environment.action === 'stop'
}
