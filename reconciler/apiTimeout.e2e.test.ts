import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { work } = scene

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** The address of a server that treats every request alike. */
async function serverThat(treats: RequestListener): Promise<string> {
  const server = createServer(treats)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const throttled: RequestListener = (_request, response) => {
  response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":"rate_limited"}')
}
const silent: RequestListener = () => {}

/**
 * Time limit of a run (seconds): on a busy machine seven at once need longer than one second for their first request.
 */
const LIMIT_S = 5

test.each([
  ['always responds with 429', throttled, '429'],
  ['never responds', silent, 'there is no response'],
])(
  'every command with an API that %s ends at the time limit, and says what to do',
  async (_how, treats, reason) => {
    work.write({ 'a.yaml': manifestOf('a') })
    const manifests = join(work.folder, 'manifests')
    const state = ['--state', work.statePath]
    await runHere(['apply', manifests, ...state], work.env)
    const env = { ...work.env, PHAROS_URL: await serverThat(treats), PHAROS_TIMEOUT: `${LIMIT_S}s` }
    const commands = [
      ['plan', manifests, ...state],
      ['drift', manifests, ...state],
      ['export'],
      ['adopt', 'plan', manifests, ...state],
      ['state', 'verify', ...state],
      ['apply', manifests, ...state],
      ['apply', manifests, '--state', join(work.folder, 'new.db')],
    ]

    const runs = commands.map(async (command) => {
      const { exitCode, stdout, stderr } = await runHere([...command, '--json'], env)
      return { command: command.join(' '), exitCode, error: JSON.parse(stdout).error, stderr }
    })
    for (const { command, exitCode, error, stderr } of await Promise.all(runs)) {
      expect([exitCode, error], command).toEqual([
        1,
        { code: 'E_TIMEOUT', exitCode: 1, message: expect.stringContaining(reason) },
      ])
      expect(stderr, command).toContain(
        `timed out after ${LIMIT_S} s, the time limit of the run (--timeout, or timeout of the set)`,
      )
    }
  },
)

test('an apply that times out keeps its finished changes, and the next one makes the rest', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  for (const key of keys) work.write({ [`${key}.yaml`]: manifestOf(key) })
  let created = 0
  scene.proxy.afterEffect = () => {
    created += 1
  }
  scene.proxy.refusesWith = () => (created < 3 ? undefined : { status: 429, error: 'rate_limited' })

  const first = await scene.json('apply', '--timeout', `${LIMIT_S}s`)
  expect([first.exit, first.error.code, first.applied.created]).toEqual([1, 'E_TIMEOUT', created])
  expect(first.outcomes.map(({ result }: { result: string }) => result)).not.toContain('lost')
  scene.proxy.refusesWith = () => undefined
  const second = await scene.json('apply')

  expect([second.exit, await scene.names()]).toEqual([0, keys])
})

test.each(['0s', 'soon', '600000m'])('a time limit of %s is refused', async (limit) => {
  const { exitCode, stderr } = await runHere(['export', '--timeout', limit], work.env)
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('--timeout must be')])
})
