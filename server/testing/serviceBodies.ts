import type { EndpointInput, ServiceRequest } from '../../api/contract/service.ts'

/** The smallest endpoint that is valid, changed by `changes`. */
export function endpointBody(changes: Partial<EndpointInput> = {}): EndpointInput {
  return {
    url: 'https://example.com/',
    call: { Http: { method: 'GET', timeout: null } },
    assertions: [],
    ...changes,
  }
}

/** The smallest service definition that is valid on the business plan, changed by `changes`. */
export function serviceBody(changes: Partial<ServiceRequest> = {}): ServiceRequest {
  return {
    name: 'Checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [endpointBody()],
    ...changes,
  }
}
