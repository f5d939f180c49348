import { expect, onTestFinished, test } from 'vitest'
import { startHttpServer } from '../../../monitoring/check/testing/checkedServer.ts'
import { LOCAL_SPELLINGS } from '../../../monitoring/check/testing/localSpellings.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'

test('the button that tests a channel reaches nothing on this machine, however its address is spelled', async () => {
  const decoy = await startHttpServer((_request, response) => response.end())
  onTestFinished(() => decoy.close())
  const server = await startConsoleServer()
  onTestFinished(() => server.close())
  const { client, actions } = await server.signIn('member')
  const problems: unknown[] = []
  for (const host of LOCAL_SPELLINGS) {
    const name = `to ${host}`
    const form = { name, kind: 'webhook', url: `https://${host}:${decoy.port}/`, events: 'incident.created' }
    const created = await client.post(`${actions}/channels`, form)
    const channel = (await server.store.listChannels(server.orgId)).find((one) => one.name === name)
    const tested = await client.post(`${actions}/channels/${channel?.id}/test`)
    problems.push([host, created.status, tested.status, tested.text.includes('address_forbidden')])
  }

  expect(problems).toEqual(LOCAL_SPELLINGS.map((host) => [host, 200, 422, true]))
  expect(decoy.connections()).toBe(0)
})
