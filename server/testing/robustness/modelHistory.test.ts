import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import { cases } from '../../../scripts/testing/torture.ts'
import { type ApiClient, apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'
import { EMPTY_MODEL, expectedOutcome, MODEL_LIMITS, type Model, type Step } from './modelHistory.ts'

const server = await startServer({ rateLimit: 'none' })
afterAll(() => server.close())

const endpoints = fc
  .record({
    url: fc.constantFrom('https://a.example/', 'https://b.example/', 'http://127.0.0.1/'),
    name: fc.constantFrom('front', 'back', null),
  })
  .map(endpointBody)
const definitions = fc
  .record({
    name: fc.constantFrom('Checkout', 'Search', 'ä 𝒳'),
    // Mostly allowed values, so that the other limits are reached too.
    interval_secs: fc.constantFrom(30, 30, 30, 60, 60, 10),
    regions: fc.subarray(['eu-west-1', 'us-east-1', 'sa-east-1'], { minLength: 1 }),
    endpoints: fc.oneof(
      { weight: 3, arbitrary: fc.array(endpoints, { minLength: 1, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.array(endpoints, { minLength: 3, maxLength: 4 }) },
    ),
  })
  .map(serviceBody)
const place = fc.nat({ max: 4 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), definition: definitions }),
  fc.record({ kind: fc.constant('replace' as const), place, definition: definitions }),
  fc.record({ kind: fc.constantFrom('pause' as const, 'resume', 'delete', 'get'), place }),
)

/** A new organisation for one history. */
async function newcomer(): Promise<ApiClient> {
  const orgId = await server.createOrg()
  await server.overrideLimits(MODEL_LIMITS, orgId)
  return apiClient(server.url, await server.createKey({ orgId }))
}

/** `ids` has the id of each service by its place. */
async function ask(api: ApiClient, step: Step, ids: readonly string[]) {
  if (step.kind === 'create') return api.post('/v1/services', step.definition)
  const path = `/v1/services/${ids[step.place] ?? UNKNOWN_ID}`
  switch (step.kind) {
    case 'replace':
      return api.patch(path, step.definition)
    case 'delete':
      return api.delete(path)
    case 'get':
      return api.get(path)
    case 'pause':
    case 'resume':
      return api.post(`${path}/${step.kind}`)
  }
}

/** The model's view of a service, from a response. */
function seen({ name, interval_secs, regions, endpoints: made, paused_at }: ServiceResponse) {
  return {
    definition: [name, interval_secs, regions, made.map((each) => [each.url, each.name ?? null])],
    isPaused: paused_at !== null,
  }
}

function expected(model: Model) {
  return model.services
    .filter((service) => service !== null)
    .map(({ definition: { name, interval_secs, regions, endpoints: wanted }, isPaused }) => ({
      definition: [name, interval_secs, regions, wanted.map((each) => [each.url, each.name ?? null])],
      isPaused,
    }))
}

async function listed(api: ApiClient): Promise<readonly ServiceResponse[]> {
  return serviceResponseSchema.array().parse((await api.get('/v1/services')).json)
}

async function commandsOf(ids: readonly string[]) {
  const all = await server.store.listCommands()
  return ids.map((id) =>
    all
      .filter(({ serviceId }) => serviceId === id)
      .map(({ type, region, generation }) => ({ type, region, generation })),
  )
}

test('responses, list and commands follow the document for any sequence of requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 30, size: 'max' }), async (history) => {
      const api = await newcomer()
      const ids: string[] = []
      let model = EMPTY_MODEL
      for (const step of history) {
        const { status, json } = await ask(api, step, ids)
        const outcome = expectedOutcome(model, step)
        expect({ step, status }).toEqual({ step, status: outcome.status })
        if (status === 201) ids.push(serviceResponseSchema.parse(json).id)
        model = outcome.model
      }

      expect((await listed(api)).map(seen)).toEqual(expected(model))
      expect(await commandsOf(ids)).toEqual(model.commands)
    }),
    { numRuns: cases(15, 150) },
  )
})

/** Every order of `items`. */
function orders<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

test('concurrent requests have the effect of some sequential order', async () => {
  const storms = fc.array(steps, { minLength: 2, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(definitions, storms, async (first, storm) => {
      const api = await newcomer()
      const start: Step = {
        kind: 'create',
        definition: { ...first, interval_secs: 30, endpoints: first.endpoints.slice(0, 1) },
      }
      const { id } = serviceResponseSchema.parse((await ask(api, start, [])).json)
      const asked = storm.map((step) => (step.kind === 'create' ? step : { ...step, place: 0 }))

      const responses = await Promise.all(asked.map((step) => ask(api, step, [id])))

      const services = await listed(api)
      const ids = [id, ...services.map((service) => service.id).filter((each) => each !== id)]
      const found = {
        statuses: responses.map(({ status }) => status),
        services: services.map(seen),
        commands: await commandsOf(ids),
      }
      const explained = orders([...asked.keys()]).map((order) => {
        let { model } = expectedOutcome(EMPTY_MODEL, start)
        const statuses: number[] = []
        for (const index of order) {
          const outcome = expectedOutcome(model, asked[index] ?? start)
          statuses[index] = outcome.status
          model = outcome.model
        }
        return { statuses, services: expected(model), commands: model.commands }
      })
      expect(explained).toContainEqual(found)
    }),
    { numRuns: cases(8, 60) },
  )
})
