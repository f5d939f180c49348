import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { faultInjectorOf } from '../faultInjector.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

let serviceId = ''
beforeAll(async () => {
  const { json } = await api.post('/v1/services', serviceBody())
  serviceId = serviceResponseSchema.parse(json).id
})

const incidentBody = (changes: Record<string, unknown>) => ({
  title: 'Slow',
  message: 'We look.',
  severity: 'major_outage',
  service_ids: [serviceId],
  ...changes,
})

/** Sends `text` in each field for people. Resolves with the responses. */
async function sendEverywhere(text: string) {
  const { id } = incidentSchema.parse((await api.post('/v1/incidents', incidentBody({}))).json)
  return {
    name: await api.post('/v1/services', serviceBody({ name: text })),
    'endpoints[0].name': await api.post(
      '/v1/services',
      serviceBody({ endpoints: [endpointBody({ name: text })] }),
    ),
    title: await api.post('/v1/incidents', incidentBody({ title: text })),
    message: await api.post('/v1/incidents', incidentBody({ message: text })),
    body: await api.post(`/v1/incidents/${id}/updates`, { body: text, status: 'identified' }),
  }
}

test.each([
  ['\u200B', 'must have a visible character'],
  ['a\u001B[31m', 'must not contain the control character U+001B (character 2)'],
  ['a\u202Eb', 'must not contain the direction control U+202E (character 2)'],
])('%j is 400 at its JSON path in every text for people', async (text, problem) => {
  const responses = Object.entries(await sendEverywhere(text))

  expect(responses.map(([path, { status, json }]) => [path, status, json])).toEqual(
    responses.map(([path]) => [path, 400, { error: `${path}: ${problem}` }]),
  )
})

test('emoji, text from right to left and blanks are stored as they were sent', async () => {
  const text = ' 👩🏽‍🚒 می‌خواهم ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 '
  const responses = Object.values(await sendEverywhere(text))

  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200])
  expect(responses.filter((response) => !response.text.includes(JSON.stringify(text)))).toEqual([])
})

test('a megabyte of blanks is refused wherever it is sent', async () => {
  const responses = Object.values(await sendEverywhere(`a${' '.repeat(1_000_000)}`))

  expect(responses.map(({ status, text }) => [status, text.includes('must have at most')])).toEqual(
    responses.map(() => [400, true]),
  )
})

test('the longest first message is far below the limit of all updates, and counts towards it', async () => {
  const longest = '😀'.repeat(20_000)
  const { id } = incidentSchema.parse(
    (await api.post('/v1/incidents', incidentBody({ message: longest }))).json,
  )
  const post = () => api.post(`/v1/incidents/${id}/updates`, { body: longest, status: 'identified' })

  const statuses = [(await post()).status, (await post()).status, (await post()).status]

  expect(statuses).toEqual([200, 200, 400])
})

describe('a service stored before its text became invalid', async () => {
  const name = 'a\u202Eb\u001B'
  const { json } = await api.post('/v1/services', serviceBody({ name: 'to be changed' }))
  const { id } = serviceResponseSchema.parse(json)
  const injector = await faultInjectorOf(server)
  await injector.execute(
    `UPDATE services SET response = replace(response, '"to be changed"', '${JSON.stringify(name)}') WHERE id = '${id}'`,
  )
  await injector.close()

  test('can be read, listed, paused, resumed and deleted; only a replace needs a valid text', async () => {
    const read = serviceResponseSchema.parse((await api.get(`/v1/services/${id}`)).json)
    const listed = await api.get('/v1/services')
    const paused = await api.post(`/v1/services/${id}/pause`)
    const resumed = await api.post(`/v1/services/${id}/resume`)
    const replaced = await api.patch(`/v1/services/${id}`, serviceBody({ name }))
    const renamed = await api.patch(`/v1/services/${id}`, serviceBody({ name: 'ab' }))
    const deleted = await api.delete(`/v1/services/${id}`)

    expect([read.name, listed.text.includes(JSON.stringify(name))]).toEqual([name, true])
    expect([paused, resumed, replaced, renamed, deleted].map(({ status }) => status)).toEqual([
      200, 200, 400, 200, 204,
    ])
  })
})
