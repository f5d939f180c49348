import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EndpointInput } from '../../api/contract/service.ts'
import { encodedForms } from '../testing/encodedForms.ts'
import { filesBelow } from '../testing/filesBelow.ts'
import { endpointBody } from '../testing/serviceBodies.ts'
import { type AgentPrograms, agentPrograms, until } from './testing/agentPrograms.ts'

/** What every value begins with: where one is found, in whatever form, this is found in the same form. */
const SEALED = 'canary-of-a-sealed-value-'
const PLAIN = 'canary-of-a-plain-value-'
const ENDPOINTS = 20
/** Sealed values of an endpoint: 200 in all. */
const PER_ENDPOINT = 10
/** Names of the control database, whose definitions have queries and plain bodies. */
const CONTROL_DATABASE = /^control\.db/

const canary = (start: string) => `${start}${randomBytes(12).toString('hex')}`

let programs: AgentPrograms
let target: Server
let port: number
/** Sealed headers that arrived at the target. */
let arrived: Set<string>
beforeEach(async () => {
  arrived = new Set()
  target = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://target')
    for (const value of Object.values(request.headers)) {
      if (typeof value === 'string' && value.startsWith(SEALED)) arrived.add(value)
    }
    if (pathname === '/redirect') {
      response.writeHead(302, { location: `http://127.0.0.1:1/gone${search}` }).end()
      return
    }
    // A target that shows what it was sent.
    response.setHeader('x-echo', String(request.headers['x-token-0']))
    request.pipe(response)
  })
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  port = (target.address() as AddressInfo).port
  programs = await agentPrograms('127.0.0.0/8')
})
afterEach(async () => {
  await programs.close()
  target.closeAllConnections()
  target.close()
})

const FAILURES: readonly {
  readonly path: string
  readonly assertion: EndpointInput['assertions'][number]
}[] = [
  { path: '/header', assertion: { Header: { name: 'x-echo', matcher: { Equals: 'nothing' } } } },
  { path: '/body', assertion: { Body: { matcher: { Contains: 'nothing' } } } },
  { path: '/redirect', assertion: { StatusCode: { expected: { Eq: 200 } } } },
  { path: '/status', assertion: { StatusCode: { expected: { Eq: 500 } } } },
]

/** Endpoints with ten sealed values each, which fail in each of the ways. */
function failingEndpoints(): readonly EndpointInput[] {
  return Array.from({ length: ENDPOINTS / FAILURES.length }, (_, round) => round % 2 === 0).flatMap(
    (isSealedBody) =>
      FAILURES.map(({ path, assertion }) => {
        const names = Array.from({ length: isSealedBody ? PER_ENDPOINT - 1 : PER_ENDPOINT }, (_, n) => n)
        const headers = Object.fromEntries(
          names.map((name) => [`X-Token-${name}`, { value: canary(SEALED), sensitive: true }]),
        )
        const body = { value: canary(isSealedBody ? SEALED : PLAIN), sensitive: isSealedBody }
        return endpointBody({
          url: `http://127.0.0.1:${port}${path}?key=${canary(PLAIN)}`,
          call: { Http: { method: 'POST', timeout: null, headers, body } },
          assertions: [assertion],
        })
      }),
  )
}

/** The contents of the files below the folder, without the token's own; `isRead` chooses by name. */
function filesOf(isRead: (name: string) => boolean): readonly Buffer[] {
  return filesBelow(programs.folder, (name) => name !== 'token' && isRead(name))
}

test('200 sealed values and the agent token are in no file or output, and queries and plain bodies in no result', {
  timeout: 240_000,
}, async () => {
  const spool = join(programs.folder, 'spool')
  await programs.admin('org', 'auto-incidents', '--org', programs.orgId, '--threshold', '1', '--window', '1')
  await programs.startServer('--log-level', 'trace')
  const logs = [() => programs.server().stderr()]
  const agent = programs.startAgent(['--spool', spool, '--metrics-port', '0', '--log-level', 'trace'])
  await agent.wrote('metrics on')
  const agentUrl = /^metrics on (\S+)$/m.exec(agent.output())?.[1] ?? ''
  const endpoints = [...failingEndpoints()]
  const { id } = await programs.create({ endpoints, interval_secs: 2 })
  const shown: string[] = []
  const show = async () => {
    const adminUrl = programs.server().adminUrl()
    const pages = [`${adminUrl}/metrics`, `${adminUrl}/metrics/probes`, agentUrl]
    shown.push(...(await Promise.all(pages.map(async (page) => (await fetch(page)).text()))))
    shown.push(JSON.stringify(await programs.admin('results', '--service', id)))
    shown.push(JSON.stringify(await programs.admin('states', '--org', programs.orgId)))
    shown.push((await programs.api().get('/v1/incidents?section=active')).text)
  }
  const failed = async () =>
    new Set((await programs.resultsOf(id)).map(({ endpoint_id, reason }) => `${endpoint_id} ${reason}`))
  await until(async () => (await failed()).size >= ENDPOINTS)
  await show()

  await programs.server().kill()
  const logOfFirst = programs.server().stderr()
  logs.push(() => logOfFirst)
  await until(() => filesOf((name) => name.endsWith('.jsonl')).some(({ length }) => length > 0))
  const spooled = filesOf(() => true)
  const spooledOnly = filesOf((name) => !CONTROL_DATABASE.test(name))
  await programs.startServer('--log-level', 'trace')
  await until(() => !readdirSync(spool).some((name) => name.endsWith('.jsonl')))
  await show()
  await agent.stop()

  const texts = [...shown, agent.output(), ...logs.map((log) => log())].map((text) => Buffer.from(text))
  const everywhere = Buffer.concat([...texts, ...spooled, ...filesOf(() => true)])
  const results = Buffer.concat([
    ...texts,
    ...spooledOnly,
    ...filesOf((name) => !CONTROL_DATABASE.test(name)),
  ])
  const foundIn = (place: Buffer, canaries: readonly string[]) =>
    canaries.filter((text) => encodedForms(text).some((form) => place.includes(form)))
  expect(foundIn(everywhere, [SEALED, programs.token])).toEqual([])
  expect(foundIn(results, [PLAIN])).toEqual([])
  // What is looked through has the checks of these endpoints, and the search finds what is there.
  expect(foundIn(everywhere, [PLAIN])).toEqual([PLAIN])
  expect(shown.some((text) => text.includes('expected'))).toBe(true)
  expect(arrived.size).toBeGreaterThanOrEqual(100)
})
