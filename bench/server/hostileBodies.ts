import { randomUUID } from 'node:crypto'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'

/** Maximum size of a body that is read (bytes). Gap G13. */
const BODY_BYTES = 1_048_576

/** `open`, then as many of `unit` as fit, then `close`. */
function fill(open: string, unit: (index: number) => string, close: string): string {
  const parts: string[] = []
  let length = open.length + close.length
  for (let index = 0; ; index += 1) {
    const part = unit(index)
    length += part.length + 1
    if (length > BODY_BYTES) return open + parts.join(',') + close
    parts.push(part)
  }
}

const name = (index: number): string => index.toString(36)
const oneOf = (value: unknown) => ({ StatusCode: { expected: { OneOf: Array(100).fill(value) } } })
const definition = (endpoint: object, count: number): string =>
  JSON.stringify(serviceBody({ endpoints: Array(count).fill({ ...endpointBody(), ...endpoint }) }))
const httpWith = (http: object) => ({ call: { Http: { method: 'GET', timeout: null, ...http } } })
const matcher = (Regex: string) => ({ Body: { matcher: { Regex } } })
const valid = JSON.stringify(serviceBody()).slice(0, -1)
const headers = (sensitive: boolean) =>
  Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`h${index}`, { value: 'x', sensitive }]))

/**
 * Bodies for POST and PATCH /v1/services, of at most 1 MiB, that are expensive to parse, check or store, each for a
 * different reason.
 */
export const HOSTILE_BODIES: Readonly<Record<string, string>> = {
  'empty objects': fill(`${valid},"x":[`, () => '{}', ']}'),
  'names, each another one': fill(`${valid},"x":{`, (index) => `"${name(index)}":0`, '}}'),
  'objects with as many names as they may have': fill(
    `${valid},"x":[`,
    (index) => `{${Array.from({ length: 10_000 }, (_, at) => `"${name(at + index * 10_000)}":0`).join(',')}}`,
    ']}',
  ),
  'objects, each of another shape': fill(`${valid},"x":[`, (index) => `{"${name(index)}":0}`, ']}'),
  'half a million levels': `${valid},"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  'a name of a mebibyte': JSON.stringify({ ...serviceBody(), name: 'é'.repeat(500_000) }),
  'empty strings where integers should be': definition({ assertions: Array(32).fill(oneOf('')) }, 93),
  'as many integers as fit': definition({ assertions: Array(50).fill(oneOf(1)) }, 84),
  'empty endpoints': fill(
    '{"name":"x","interval_secs":60,"regions":["eu-west-1"],"endpoints":[',
    () => '{}',
    ']}',
  ),
  'valid endpoints': fill(
    '{"name":"x","interval_secs":60,"regions":["eu-west-1"],"endpoints":[',
    () => JSON.stringify(endpointBody()),
    ']}',
  ),
  'header names': fill(
    '{"name":"x","interval_secs":60,"regions":["eu-west-1"],"endpoints":[{"url":"http://x/","assertions":[],"call":{"Http":{"method":"GET","timeout":null,"headers":{',
    (index) => `"${name(index)}":0`,
    '}}}}]}',
  ),
  regions: fill(
    '{"name":"x","interval_secs":60,"endpoints":[],"regions":[',
    (index) => `"${name(index)}"`,
    ']}',
  ),
  'costly patterns': definition(
    { assertions: Array.from({ length: 50 }, (_, index) => matcher(`${'.{0,1000}'.repeat(2)}${index}`)) },
    1,
  ),
  'patterns of ranges': definition({ assertions: [matcher(`(?i)${'[b-\u{ffff}]'.repeat(4)}`)] }, 1),
  'long patterns': definition(
    { assertions: Array.from({ length: 50 }, (_, index) => matcher(`${'a*'.repeat(500)}${index}`)) },
    20,
  ),
  'clear headers': definition(httpWith({ headers: headers(false) }), 100),
  'sealed headers': definition(httpWith({ headers: headers(true) }), 10),
  'sealed bodies': definition(httpWith({ body: { value: 'x'.repeat(65_000), sensitive: true } }), 15),
}

const incident = (members: object): string =>
  JSON.stringify({
    title: 'x',
    service_ids: [randomUUID()],
    message: 'x',
    severity: 'major_outage',
    ...members,
  })
const update = (members: object): string => JSON.stringify({ body: 'x', status: 'monitoring', ...members })
const guids = (count: number): readonly string[] => Array.from({ length: count }, () => randomUUID())

/** Bodies for POST /v1/incidents. */
export const HOSTILE_INCIDENTS: Readonly<Record<string, string>> = {
  'as many services as may be named': incident({ service_ids: guids(100) }),
  'service ids of a mebibyte': incident({ service_ids: guids(26_000) }),
  'a message of a mebibyte': incident({ message: 'é'.repeat(500_000) }),
  'a message that ends with a control character': incident({ message: `${'é'.repeat(19_999)}\u202e` }),
  'a title of blanks': incident({ title: ' '.repeat(1_000_000) }),
}

/** Bodies for POST /v1/incidents/{id}/updates. */
export const HOSTILE_UPDATES: Readonly<Record<string, string>> = {
  'a body of a mebibyte': update({ body: 'é'.repeat(500_000) }),
  'the longest update': update({ body: '\u{1f600}'.repeat(20_000) }),
}

const serviceIds = (count: number): string =>
  guids(count)
    .map((id) => `service_id=${id}`)
    .join('&')

/** Queries for GET /v1/incidents, as long as the 16 KiB limit for all headers of a request. */
export const HOSTILE_QUERIES: Readonly<Record<string, string>> = {
  'three hundred services': `section=active&limit=100&${serviceIds(300)}`,
  'one service three hundred times': `section=active&q=x&${Array(300).fill(serviceIds(1)).join('&')}`,
  'as many empty names': `section=active&${'&'.repeat(15_000)}`,
  'a search of percent signs': `section=active&q=${'%25'.repeat(200)}&page=9223372036854775807`,
}
