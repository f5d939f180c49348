import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DemoFailure, type PlanInput, type Story } from './story.ts'

/** A server that runs, and what its clients need. */
export interface RunningServer {
  readonly url: string
  readonly orgId: string
  /** A fresh read_write key. */
  newKey(): Promise<string>
}

const SERVE = 'pharos-server serve --data-dir data --port 0 --admin-port 0'

/** Where the server listens, once it does. */
interface Listening {
  readonly url: string
  readonly adminUrl: string
  /** Ends the server and waits for its end. */
  stop(): Promise<void>
}

/** Starts the server on a free port. Throws a DemoFailure when it ends instead. */
export async function startServer({ folder, environment }: PlanInput): Promise<Listening> {
  const [command = '', ...args] = SERVE.split(' ')
  const child = spawn(command, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  let url: string | undefined
  let adminUrl: string | undefined
  for await (const line of createInterface(child.stdout)) {
    url ??= /^listening on (http:\S+)$/.exec(line)?.[1]
    adminUrl ??= /^admin on (http:\S+)$/.exec(line)?.[1]
    if (url !== undefined && adminUrl !== undefined) {
      child.stdout.resume()
      return { url, adminUrl, stop: () => stop(child) }
    }
  }
  throw new DemoFailure(`pharos-server did not start:\n${said.trim()}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Requests to /v1 that the server has answered, from its metrics. */
export async function requestsAnswered(adminUrl: string): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`)
  const samples = (await response.text()).matchAll(/^pharos_http_requests_total\{[^}]*\} (\d+)$/gm)
  return [...samples].reduce((total, [, count]) => total + Number(count), 0)
}

/** Tells how an organisation and its keys are made on the running server. */
export async function tellServer(story: Story, scene: PlanInput, { url }: Listening): Promise<RunningServer> {
  story.chapter('1. A server on a SQLite file')
  story.typed(`${SERVE} &`)
  story.outcome(`listening on ${url}`)
  const created = await story.type(
    'pharos-server org create --data-dir data --name "Example Shop" --plan business --json',
    scene,
  )
  const orgId: string = JSON.parse(created.output).id
  story.outcome(`organisation ${orgId}`)
  const createKey = `pharos-server key create --data-dir data --org ${orgId} --json`
  return {
    url,
    orgId,
    async newKey() {
      const { output } = await story.type(createKey, scene)
      const { key }: { readonly key: string } = JSON.parse(output)
      story.outcome(`an API key that ends in ${key.slice(-4)}`)
      return key
    },
  }
}
