import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DemoFailure, type DemoRunner, type DemoShell } from './demoRunner.ts'

const SERVE =
  'pharos-server serve --data-dir data --port 0 --admin-port 0 --status-port 0 --console-port 0 --allow-ranges 127.0.0.0/8 --allow-webhook-ranges 127.0.0.0/8'

/** What the server prints of its listeners, before " on" and the address. */
const LISTENERS = ['listening', 'admin', 'status pages', 'console']

/** A server that listens. */
interface Listening {
  readonly url: string
  readonly adminUrl: string
  readonly statusUrl: string
  readonly consoleUrl: string
  /** Stops the server and waits for its exit. */
  stop(): Promise<void>
}

/** A running server with the data for its clients. */
export interface RunningServer extends Listening {
  readonly orgId: string
  /** Creates a read_write key. */
  newKey(): Promise<string>
}

/** Starts the server on a free port. Throws a DemoFailure when it ends instead. */
export async function startServer({ folder, environment }: DemoShell): Promise<Listening> {
  const [command = '', ...args] = SERVE.split(' ')
  const child = spawn(command, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const urls = new Map<string, string>()
  for await (const line of createInterface(child.stdout)) {
    const [, name = '', found = ''] = /^([a-z ]+) on (http:\S+)$/.exec(line) ?? []
    urls.set(name, found)
    const [url, adminUrl, statusUrl, consoleUrl] = LISTENERS.map((key) => urls.get(key))
    if (url !== undefined && adminUrl !== undefined && statusUrl !== undefined && consoleUrl !== undefined) {
      child.stdout.resume()
      return { url, adminUrl, statusUrl, consoleUrl, stop: () => stop(child) }
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

/** The number of requests to /v1 that the server has served, from its metrics. */
export async function requestCount(adminUrl: string): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`)
  const samples = (await response.text()).matchAll(/^pharos_http_requests_total\{[^}]*\} (\d+)$/gm)
  return [...samples].reduce((total, [, count]) => total + Number(count), 0)
}

/** Creates an organisation and its keys on the running server. */
export async function showServer(
  demo: DemoRunner,
  shell: DemoShell,
  listening: Listening,
): Promise<RunningServer> {
  demo.chapter('1. A server on a SQLite file')
  demo.typed(`${SERVE} &`)
  demo.outcome(`listening on ${listening.url}`)
  const created = await demo.type(
    'pharos-server org create --data-dir data --name "Example Shop" --plan business --json',
    shell,
  )
  const orgId: string = JSON.parse(created.stdout).id
  demo.outcome(`organisation ${orgId}`)
  const createKey = `pharos-server key create --data-dir data --org ${orgId} --json`
  return {
    ...listening,
    orgId,
    async newKey() {
      const { stdout } = await demo.type(createKey, shell)
      const { key }: { readonly key: string } = JSON.parse(stdout)
      demo.outcome(`an API key that ends in ${key.slice(-4)}`)
      return key
    },
  }
}
