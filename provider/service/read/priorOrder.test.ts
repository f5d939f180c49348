import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { responseTo, serviceRequests } from '../../testing/serviceRequests.ts'
import { inPriorOrder } from './priorOrder.ts'
import { type ServiceState, toState } from './toState.ts'

function stateOf(request: ServiceRequest): ServiceState {
  // True because toState returns every attribute except secrets_revision.
  return { ...toState(responseTo(request), undefined), secrets_revision: 0 } as ServiceState
}

/** A request, and the same one with its endpoints and assertions in a different order. */
const shuffled = serviceRequests.chain((request) =>
  fc
    .record({
      endpoints: fc.shuffledSubarray(request.endpoints, { minLength: request.endpoints.length }),
      places: fc.infiniteStream(fc.nat()),
    })
    .map(({ endpoints, places }) => ({
      request,
      other: {
        ...request,
        endpoints: endpoints.map((endpoint) => ({
          ...endpoint,
          assertions: [...endpoint.assertions]
            .map((assertion) => ({ assertion, place: places.next().value ?? 0 }))
            .sort((a, b) => a.place - b.place)
            .map(({ assertion }) => assertion),
        })),
      },
    })),
)

test('endpoints and assertions in another order keep the order of the state', () => {
  fc.assert(
    fc.property(shuffled, ({ request, other }) => {
      const prior = stateOf(request)

      const read = toState(inPriorOrder(responseTo(other), prior), prior)

      expect({ ...read, secrets_revision: 0 }).toEqual(prior)
    }),
  )
})

test('a list of endpoints that differs in more than its order keeps the order of the server', () => {
  fc.assert(
    fc.property(serviceRequests, serviceRequests, (request, stored) => {
      fc.pre(request.endpoints.length !== stored.endpoints.length)

      const response = inPriorOrder(responseTo(request), stateOf(stored))

      expect(response.endpoints.map(({ url }) => url)).toEqual(request.endpoints.map(({ url }) => url))
    }),
  )
})

test('without a stored state the order of the server is kept', () => {
  fc.assert(
    fc.property(serviceRequests, (request) => {
      expect(inPriorOrder(responseTo(request), undefined)).toEqual(responseTo(request))
    }),
  )
})

test('values of one_of and the case of header names have no order and no meaning, other differences keep the order of the server', () => {
  const requestWith = (header: string, statuses: readonly number[]): ServiceRequest => ({
    name: 'checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        call: { Http: { method: 'GET', timeout: null } },
        assertions: [
          { Header: { name: header, matcher: { Equals: 'a' } } },
          { StatusCode: { expected: { OneOf: [...statuses] } } },
        ],
      },
    ],
  })
  const kindsRead = (header: string, statuses: readonly number[]): readonly string[] => {
    const [endpoint] = requestWith(header, statuses).endpoints
    const reversed = [{ ...endpoint, assertions: endpoint?.assertions.toReversed() }]
    // True because only the order of the assertions differs.
    const other = { ...requestWith(header, statuses), endpoints: reversed } as ServiceRequest
    const response = inPriorOrder(responseTo(other), stateOf(requestWith('x-cache', [200, 90, 1_000])))
    return response.endpoints.flatMap(({ assertions }) => assertions.flatMap((each) => Object.keys(each)))
  }

  expect(kindsRead('X-Cache', [1_000, 200, 90])).toEqual(['Header', 'StatusCode'])
  expect(kindsRead('X-Cache', [1_000, 200, 91])).toEqual(['StatusCode', 'Header'])
})
