import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Client } from '../../../api/client/client.ts'
import { Limiter } from '../../../api/client/limiter.ts'
import { canonicalRequest, canonicalResponse } from '../../../api/contract/canonical.ts'
import { serviceRequestSchema } from '../../../api/contract/service.ts'
import { startServer } from '../../../server/testing/startServer.ts'
import { hasErrors } from '../../protocol/authoring/diagnostics.ts'
import { UNKNOWN, type Value } from '../../protocol/values/value.ts'
import {
  responseTo,
  configurationOf,
  type ServiceConfiguration,
  serviceRequests,
} from '../../testing/serviceRequests.ts'
import { compileService } from '../compile/compileService.ts'
import { validateService } from '../compile/validateService.ts'
import { type ServiceState, toState } from './toState.ts'

/** Secrets in plain text, because here they must be the same, not merely set. */
const inClear = (_pointer: string, value: string): string => value

test('Scenario 71: every service that the contract allows has a configuration that compiles to exactly that service', () => {
  fc.assert(
    fc.property(serviceRequests, (request) => {
      const { request: made, problems } = compileService(configurationOf(request))

      expect(problems).toEqual([])
      expect(canonicalRequest(made, inClear)).toEqual(canonicalRequest(request, inClear))
      expect(serviceRequestSchema.safeParse(made).success).toBe(true)
    }),
  )
})

test('Scenario 71: reading an unchanged service leaves its state unchanged', () => {
  fc.assert(
    fc.property(serviceRequests, (request) => {
      const response = responseTo(request)
      // True because the result of toState has every attribute of the state except secrets_revision.
      const state = { ...toState(response, undefined), secrets_revision: 0 } as ServiceState

      expect({ ...toState(response, state), secrets_revision: 0 }).toEqual(state)
    }),
  )
})

test('a state never contains a sealed value', () => {
  fc.assert(
    fc.property(serviceRequests, (request) => {
      const state = toState(responseTo(request), undefined)

      for (const { http } of state.endpoints ?? []) {
        const values = [http?.body, ...(http?.headers instanceof Map ? http.headers.values() : [])]
        for (const value of values) expect(value?.value_wo ?? null).toBeNull()
      }
    }),
  )
})

test('the server responds as these tests assume', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  const client = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test', limiter })
  try {
    await fc.assert(
      fc.asyncProperty(serviceRequests, async (request) => {
        const created = await client.createService(request, randomUUID())
        await client.deleteService(created.id)

        expect(marked(canonicalResponse(created))).toEqual(marked(canonicalResponse(responseTo(request))))
      }),
      { numRuns: 30 },
    )
  } finally {
    await client.close()
    await server.close()
  }
})

/** Key ids are the server's own. */
function marked(service: unknown): unknown {
  return JSON.parse(JSON.stringify(service).replaceAll(/"sealed":"[^"]*"/g, '"sealed":""'))
}

/** `value` with some of its parts unknown, as `isUnknown` decides for each in order. */
function partlyUnknown(value: Value, isUnknown: () => boolean): Value {
  if (isUnknown()) return UNKNOWN
  if (Array.isArray(value)) return value.map((element) => partlyUnknown(element, isUnknown))
  if (value instanceof Map) {
    return new Map([...value].map(([key, element]) => [key, partlyUnknown(element, isUnknown)]))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, element]) => [key, partlyUnknown(element, isUnknown)]),
  )
}

test('unknown values never make a configuration invalid, wherever they are', () => {
  const choices = fc.infiniteStream(fc.nat({ max: 9 }))
  fc.assert(
    fc.property(serviceRequests, choices, (request, stream) => {
      const entries = Object.entries(configurationOf(request)).map(([name, value]) => [
        name,
        partlyUnknown(value, () => stream.next().value === 0),
      ])
      // True because a configuration may be unknown at any place, which is all that was changed.
      const configuration = Object.fromEntries(entries) as ServiceConfiguration

      const diagnostics = validateService(configuration)

      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(hasErrors(compileService(configuration).problems)).toBe(false)
    }),
  )
})

test('a configuration of unknown values is valid', () => {
  const nothing = partlyUnknown(null, () => true)
  const names = Object.keys(configurationOf(fc.sample(serviceRequests, 1)[0]!))
  // True because every attribute is there, and unknown.
  const configuration = Object.fromEntries(names.map((name) => [name, nothing])) as ServiceConfiguration

  expect(validateService(configuration)).toEqual([])
})
