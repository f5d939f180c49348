import type { EndpointInput, ServiceRequest } from '../../api/contract/service.ts'

/** The smallest valid endpoint, with `changes`. */
export function endpointBody(changes: Partial<EndpointInput> = {}): EndpointInput {
  return {
    url: 'https://example.com/',
    call: { Http: { method: 'GET', timeout: null } },
    assertions: [],
    ...changes,
  }
}

/** The smallest valid service definition on the business plan, with `changes`. */
export function serviceBody(changes: Partial<ServiceRequest> = {}): ServiceRequest {
  return {
    name: 'Checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [endpointBody()],
    ...changes,
  }
}
