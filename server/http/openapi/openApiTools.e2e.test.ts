import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../../testing/startServer.ts'

/** Third-party tools, which have their own lock file and are installed by `.ci/run`. */
const TOOLS = join(process.cwd(), '.ci/openapi')
const isInstalled = existsSync(join(TOOLS, 'node_modules'))
/** The reason why these tests cannot run here; null when they can. Under CI they fail instead of being skipped. */
const skipReason = isInstalled || process.env.CI === 'true' ? null : `no tools: npm ci --prefix ${TOOLS}`

const DOCUMENT = 'docs/openapi.json'
const run = promisify(execFile)
const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** Runs one of the tools in the root of the repository; rejects with its output when it fails. */
async function tool(name: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(join(TOOLS, 'node_modules/.bin', name), [...args], { env: environment })
  return stdout
}

/** The JSON output of `.ci/openapi/lifecycle.ts` run against `url`. */
async function lifecycle(url: string, server: TestServer): Promise<unknown> {
  const program = join(TOOLS, 'lifecycle.ts')
  const { stdout } = await run(process.execPath, [
    '--import',
    'tsx',
    program,
    url,
    server.apiKey,
    'eu-west-1',
  ])
  return JSON.parse(stdout)
}

/** Expected result of a lifecycle, with or without a proxy in between. */
const LIFECYCLE = {
  scope: 'read_write',
  hasRegion: true,
  service: {
    endpoint: {
      id: 'an id',
      url: 'https://example.com/',
      name: 'front',
      blocked: false,
      call: {
        Http: {
          method: 'POST',
          body: { Plain: 'ping' },
          headers: {
            Accept: { Plain: 'text/html' },
            'X-Token': { Sealed: { key_id: expect.any(String) } },
          },
          max_redirects_to_follow: 3,
          with_dns: true,
          timeout: { secs: 1, nanos: 500_000_000 },
        },
      },
      assertions: [
        { StatusCode: { expected: { Between: [200, 299] } } },
        { StatusCode: { expected: { OneOf: [200, 204] } } },
        {
          Latency: {
            l_type: 'TotalLatency',
            expected: {
              Between: [
                { secs: 0, nanos: 0 },
                { secs: 2, nanos: 0 },
              ],
            },
          },
        },
        { DnsResoltion: { expected: { LessThan: { secs: 1, nanos: 0 } } } },
        { Header: { name: 'content-type', matcher: { StartsWith: 'text/' } } },
        { Body: { matcher: { Regex: '^ok' } } },
      ],
    },
    listed: [true],
    names: ['Checkout', 'Cart'],
    isPaused: [true, false],
    incident: {
      statuses: ['investigating', 'identified', 'resolved'],
      found: [true],
      updates: [
        ['We look.', 'investigating'],
        ['Found it.', 'identified'],
        ['Fixed.', 'resolved'],
      ],
    },
    deleted: 204,
    gone: [404, 'not found'],
  },
}

/** A recently free port: Prism does not report the port it was given. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A Prism in front of `upstream` that refuses requests and responses that the document does not allow. */
async function startPrism(upstream: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const port = await freePort()
  const program = join(TOOLS, 'node_modules/.bin/prism')
  const child = spawn(program, ['proxy', DOCUMENT, upstream, '--errors', '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      said += chunk.toString()
      if (said.includes('is listening on')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('close', () => reject(new Error(said)))
  })
  return { url: `http://127.0.0.1:${port}`, child }
}

describe.skipIf(skipReason !== null)('docs/openapi.json', () => {
  test('passes every recommended rule of Redocly, warnings included', async () => {
    const report: unknown = JSON.parse(
      await tool('redocly', 'lint', '--extends', 'recommended-strict', '--format', 'json', DOCUMENT),
    )

    expect(report).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 } })
  })

  test('passes every rule of Spectral for OpenAPI, hints included', async () => {
    const ruleset = join(TOOLS, 'spectral.json')
    const quiet = ['--quiet', '--format', 'json', '--fail-severity', 'hint']
    const report = await tool('spectral', 'lint', '--ruleset', ruleset, ...quiet, DOCUMENT)

    expect(JSON.parse(report)).toEqual([])
  })

  describe('generates a client with openapi-typescript', () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer({ rateLimit: 'none' })
      mkdirSync(join(TOOLS, 'generated'), { recursive: true })
      await tool('openapi-typescript', DOCUMENT, '--output', join(TOOLS, 'generated/schema.ts'))
    })
    afterAll(() => server.close())

    test('that compiles in strict mode', async () => {
      const { stdout } = await run('node_modules/.bin/tsc', ['--project', TOOLS])

      expect(stdout).toBe('')
    })

    test('that runs the lifecycle of a service and of an incident', async () => {
      expect(await lifecycle(server.url, server)).toEqual(LIFECYCLE)
    })

    test('that does the same through a Prism proxy, which refuses what the document does not allow', async ({
      onTestFinished,
    }) => {
      const prism = await startPrism(server.url)
      onTestFinished(async () => {
        const gone = once(prism.child, 'exit')
        prism.child.kill()
        await gone
      })
      const valid = await lifecycle(prism.url, server)
      const headers = { Authorization: `Bearer ${server.apiKey}`, 'Content-Type': 'application/json' }
      const body = JSON.stringify({ ...serviceBody(), interval_secs: 'often' })
      const refused = await fetch(`${prism.url}/v1/services`, { method: 'POST', headers, body })

      expect([valid, refused.status]).toEqual([LIFECYCLE, 422])
    })
  })
})
