import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeOrg } from '../testing/seedFolder.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { ConsoleClient } from './testing/consoleClient.ts'

/** What one run of the program left behind: its output, its files, and its audit log. */
async function traces(dataDir: string, orgId: string, output: string): Promise<string> {
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
  const audit = await runHere(['audit', 'list', '--org', orgId, '--json', '--data-dir', dataDir])
  return [...files, audit.stdout, output].join('\n')
}

test('serve prints the command that invites an owner, and no password, token or key is in log, files or audit log', async () => {
  const dataDir = testFolder()
  const orgId = await makeOrg(dataDir)
  const server = await startProcess(dataDir, [
    '--console-port',
    '0',
    '--monitor',
    'off',
    '--log-level',
    'trace',
  ])
  const url = /^console on (http:\/\/localhost:\d+)$/m.exec(server.stdout())?.[1] ?? ''
  const [, command = ''] = /has no owner: pharos-server (.+)$/m.exec(server.stdout()) ?? []
  const run = await runHere(command.replace('ADDRESS', 'ada@example.org').split(' '))
  const invitation = run.stdout.trim().replace(/.*\//, '')
  const password = 'canary horse battery'
  const client = new ConsoleClient(url)
  await client.post(`/api/invitations/${invitation}`, { name: 'Ada', password })
  const minted = await client.post(`/api/o/${orgId}/keys`, { note: 'CI', scope: 'read_only' })
  const key = /pharos_[0-9a-f]{64}/.exec(minted.text)?.[0] ?? 'none'
  const invited = await client.post(`/api/o/${orgId}/invitations`, {
    email: 'eve@example.org',
    role: 'viewer',
  })
  const second = /\/invite\/([\w-]+)/.exec(invited.text)?.[1] ?? 'none'
  const session = client.cookie('__Host-pharos') ?? 'none'
  const device = client.cookie('__Host-pharos-device') ?? 'none'
  await client.get(`/login?next=/invite/${second}`)
  const hook = 'https://hooks.example.org/services/canary-of-the-path'
  const channel = { name: 'Ops', kind: 'webhook', url: hook, events: 'incident.created' }
  const created = await client.post(`/api/o/${orgId}/channels`, channel)
  const signing = /whsec_[\w+/=]+/.exec(created.text)?.[0] ?? 'none'
  const refused = await client.post(`/api/o/${orgId}/channels`, { ...channel, name: '' })
  const resetRun = await runHere([
    ...['person', 'reset', '--email', 'ada@example.org', '--console-url', url, '--data-dir', dataDir],
  ])
  const reset = resetRun.stdout.trim().replace(/.*\//, '')
  await client.get(`/reset/${reset}`)
  const code = await server.stop()
  const output = `${server.stdout()}\n${server.stderr()}`
  const found = await traces(dataDir, orgId, output)
  rmSync(`${dataDir}.master-key`, { force: true })
  const secrets = {
    invitation,
    password,
    key,
    second,
    session,
    device,
    signing,
    reset,
    path: 'canary-of-the-path',
  }

  expect(run.stdout).toContain(`${url}/invite/`)
  expect(Object.values(secrets).filter((secret) => secret.length < 15)).toEqual([])
  expect(
    Object.entries(secrets)
      .filter(([, secret]) => found.includes(secret))
      .map(([name]) => name),
  ).toEqual([])
  expect([refused.status, refused.text.includes('canary-of-the-path')]).toEqual([422, false])
  expect([code, found.includes('invitation.create'), found.includes('ada@example.org')]).toEqual([
    0,
    true,
    true,
  ])
})
