import { afterAll, expect, test } from 'vitest'
import { startConsoleServer } from '../console/testing/startConsoleServer.ts'
import { runHere } from '../testing/commandHere.ts'

const server = await startConsoleServer()
afterAll(() => server.close())

const admin = (...args: readonly string[]) => runHere([...args, '--json', ...server.flags])

test('the operator resets a password with a link that works once, lists and removes members, and ends sessions', async () => {
  const invite = ['owner', 'invite', '--org', server.orgId, '--email', 'ruth@example.org']
  const link = new URL(JSON.parse((await admin(...invite, '--console-url', server.consoleUrl)).stdout).url)
    .pathname
  const client = server.visitor()
  const invited = { name: 'Ruth', password: 'correct horse battery' }
  await client.post(link.replace('/invite', '/api/invitations'), invited)
  const command = ['person', 'reset', '--email', 'Ruth@example.org', '--console-url', server.consoleUrl]
  const path = new URL(JSON.parse((await admin(...command)).stdout).url).pathname
  const isSignedIn = async () => (await client.get('/me')).status === 200
  const stillIn = await isSignedIn()
  const action = path.replace('/reset', '/api/resets')
  const shown = await server.visitor().get(path)
  const reset = await server.visitor().post(action, { password: 'a new long password' })
  const twice = await server.visitor().post(action, { password: 'a newer long password' })
  const signIn = await client.post('/api/sessions', {
    email: 'ruth@example.org',
    password: 'a new long password',
  })
  const ended = JSON.parse((await admin('session', 'end-all', '--email', 'ruth@example.org')).stdout)
  const afterwards = await isSignedIn()
  const listed = JSON.parse((await admin('member', 'list', '--org', server.orgId)).stdout)
  await server.signIn('owner')
  const removal = await admin('member', 'remove', '--org', server.orgId, '--email', 'ruth@example.org')
  const unknown = await admin('person', 'reset', '--email', 'nobody@example.org')

  expect([shown.status, reset.status, twice.status, signIn.status]).toEqual([200, 303, 410, 303])
  expect([stillIn, ended, afterwards]).toEqual([true, { ended: 1 }, false])
  expect(listed).toContainEqual(expect.objectContaining({ email: 'ruth@example.org', role: 'owner' }))
  expect([removal.code, unknown.code]).toEqual([0, 1])
  expect((await server.store.listMembers(server.orgId)).map(({ email }) => email)).not.toContain(
    'ruth@example.org',
  )
  const entries = await server.store.listAudit(server.orgId, 100)
  const actions = entries.filter(({ actorKind }) => actorKind === 'cli').map(({ action }) => action)
  for (const action of ['person.reset', 'person.sign_out', 'member.remove']) {
    expect([action, actions.filter((one) => one === action).length]).toEqual([action, 1])
  }
})

test('a link of the operator has the documented port unless a URL is given; an invalid URL is refused', async () => {
  const invite = (email: string) => admin('owner', 'invite', '--org', server.orgId, '--email', email)
  const { stdout } = await invite('new@example.org')

  expect(JSON.parse(stdout).url).toMatch(/^http:\/\/localhost:7173\/invite\/[\w-]{43}$/)
  expect((await invite('no address')).stderr).toContain('must be an e-mail address')
})
