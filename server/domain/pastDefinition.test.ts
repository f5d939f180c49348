import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { pastDefinition } from './pastDefinition.ts'

const SEALED = { key_id: 'one' }

function serviceWith(url: string, http: Partial<ServiceResponse['endpoints'][number]['call']['Http']>) {
  const service = {
    name: 'Shop',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        id: '01890000-0000-7000-8000-000000000002',
        name: 'shop',
        url,
        call: {
          Http: {
            method: 'POST' as const,
            timeout: { secs: 5, nanos: 0 },
            headers: null,
            body: null,
            ...http,
          },
        },
        assertions: [],
        blocked: false,
      },
    ],
  }
  return { service, past: JSON.parse(pastDefinition(service)) }
}

test('the history of a service has everything that its author wrote but values', () => {
  const headers = { Accept: { Plain: 'canary' }, 'X-Token': { Sealed: SEALED } }
  const { service, past } = serviceWith('https://shop.example/a?token=canary#canary\ncanary', {
    headers,
    body: { Plain: 'canary' },
  })

  expect(past).toEqual({
    name: 'Shop',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        ...service.endpoints[0],
        url: 'https://shop.example/a?…',
        call: {
          Http: {
            method: 'POST',
            timeout: { secs: 5, nanos: 0 },
            headers: { Accept: { Plain: null }, 'X-Token': { Sealed: { key_id: 'one' } } },
            body: { Plain: null },
          },
        },
      },
    ],
  })
  expect(JSON.stringify(past)).not.toContain('canary')
})

test('the history has the key of a sealed body, and no headers or body where there are none', () => {
  expect(
    serviceWith('https://shop.example/#canary', { body: { Sealed: SEALED } }).past.endpoints,
  ).toMatchObject([
    {
      url: 'https://shop.example/?…',
      call: { Http: { headers: null, body: { Sealed: { key_id: 'one' } } } },
    },
  ])
  expect(serviceWith('https://shop.example/', {}).past.endpoints).toMatchObject([
    { url: 'https://shop.example/', call: { Http: { headers: null, body: null } } },
  ])
})
