import { randomUUID } from 'node:crypto'
import type { Client } from '../../api/client/client.ts'
import type { EndpointInput, ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { DemoFailure, type DemoRunner } from './demoRunner.ts'

/** Creates a service with one endpoint directly through the API. Returns its id. */
export async function createByHand(
  demo: DemoRunner,
  client: Client,
  { url, assertions, ...fields }: Omit<ServiceRequest, 'endpoints'> & Omit<EndpointInput, 'call'>,
): Promise<string> {
  demo.request(`POST /v1/services  { "name": "${fields.name}", … }`)
  const endpoints = [{ url, call: { Http: { method: 'GET', timeout: null } }, assertions }] as const
  const { id } = await client.createService({ ...fields, endpoints: [...endpoints] }, randomUUID())
  return id
}

/**
 * Changes `fields` of the service called `name` directly through the API, with a full replace of the current
 * definition. Only for services without sealed values, which cannot be read back.
 */
export async function replaceByHand(
  demo: DemoRunner,
  client: Client,
  name: string,
  fields: Partial<ServiceRequest>,
): Promise<void> {
  const service = await serviceCalled(client, name)
  const edits = Object.entries(fields).map(([field, value]) => `"${field}": ${JSON.stringify(value)}`)
  demo.request(`PATCH /v1/services/${service.id}  { …, ${edits.join(', ')} }`)
  await client.replaceService(service.id, { ...requestOf(service), ...fields })
}

/** The service called `name`. Throws a DemoFailure when there is not exactly one. */
export async function serviceCalled(client: Client, name: string): Promise<ServiceResponse> {
  const { services } = await client.listServices()
  const [service, ...others] = services.filter((candidate) => candidate.name === name)
  if (service === undefined || others.length > 0) {
    throw new DemoFailure(`there should be one service called "${name}"`)
  }
  return service
}

function requestOf({ name, interval_secs, regions, endpoints }: ServiceResponse): ServiceRequest {
  return {
    name,
    interval_secs,
    regions,
    endpoints: endpoints.map(({ url, name: endpointName, call, assertions }) => {
      const { body, headers, ...http } = call.Http
      const plainHeaders = Object.entries(headers ?? {}).map(([header, output]) => [header, plain(output)])
      return {
        url,
        name: endpointName,
        assertions,
        call: {
          Http: {
            ...http,
            body: body == null ? null : plain(body),
            headers: Object.fromEntries(plainHeaders),
          },
        },
      }
    }),
  }
}

function plain(output: NonNullable<ServiceResponse['endpoints'][number]['call']['Http']['body']>): {
  readonly value: string
} {
  if ('Sealed' in output) throw new DemoFailure('a sealed value cannot be read back')
  return { value: output.Plain }
}
