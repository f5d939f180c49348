import { onTestFinished } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import { type RecordingProxy, startRecordingProxy } from './recordingProxy.ts'
import {
  type TerraformResult,
  type TerraformWorkspace,
  terraformWorkspace,
  type WorkspaceOptions,
} from './terraformWorkspace.ts'

/** The parts of a server that scenarios use. */
interface RunningServer {
  readonly url: string
  readonly apiKey: string
  readonly createKey: () => Promise<string>
  readonly close: () => Promise<void>
}

/** The set-up of most scenarios: a recording proxy in front of a server, Terraform in a folder, and a person. */
export interface Scenario {
  readonly proxy: RecordingProxy
  readonly workspace: TerraformWorkspace
  /** A client for manual changes, without proxy and rate limit. */
  readonly byHand: Client
  /** Writes the configuration and applies it. Throws with Terraform's output when that fails. */
  readonly apply: (configuration: string, environment?: NodeJS.ProcessEnv) => Promise<string>
  /** Plans; the exit code is 0 without changes, 2 with changes, and 1 for an error. */
  readonly plan: (environment?: NodeJS.ProcessEnv) => Promise<TerraformResult>
  /** Requests other than GET since the last call, with `:id` in place of ids. */
  readonly writes: () => readonly string[]
}

/** Starts a scenario in front of `server` for one test, after which it is removed. */
export async function openScenario(
  server: RunningServer,
  provider?: WorkspaceOptions['provider'],
): Promise<Scenario> {
  const proxy = await startRecordingProxy(server.url)
  const access = { url: proxy.url, apiKey: server.apiKey }
  const workspace = await terraformWorkspace(provider === undefined ? access : { ...access, provider })
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  const byHand = new Client({
    url: server.url,
    apiKey: await server.createKey(),
    userAgent: 'test',
    limiter,
  })
  onTestFinished(async () => {
    await byHand.close()
    workspace.remove()
    await proxy.close()
    await server.close()
  })
  return {
    proxy,
    workspace,
    byHand,
    apply: (configuration, environment) => {
      workspace.configure(configuration)
      return workspace.succeed(['apply', '-auto-approve', '-input=false'], environment)
    },
    plan: (environment) => workspace.run(['plan', '-detailed-exitcode', '-input=false'], environment),
    writes: () =>
      proxy
        .requests()
        .filter((line) => !line.startsWith('GET'))
        .map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, ':id')),
  }
}

/** Lines of a plan that add, change or remove an attribute, without their indentation. */
export function changedLines(output: string): readonly string[] {
  return (output.match(/^\s+(?:[~+-]|-\/\+) .*$/gm) ?? [])
    .filter((line) => !line.includes('resource "'))
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
}

/** HCL of a service with its label as its name, and one endpoint unless `rest` has `endpoints`. */
export function serviceBlock(label: string, rest = ''): string {
  const endpoints = rest.includes('endpoints')
    ? ''
    : 'endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]'
  const name = /^ {0,2}name\s*=/m.test(rest) ? '' : `name = "${label}"`
  const interval = /^\s*interval\s*=/m.test(rest) ? '' : 'interval = "60s"'
  const regions = /^\s*regions\s*=/m.test(rest) ? '' : 'regions = ["eu-west-1"]'
  return `resource "pharos_service" "${label}" {
  ${name}
  ${interval}
  ${regions}
  ${endpoints}
  ${rest}
}
`
}
