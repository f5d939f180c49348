import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'

/** Longest body that is read (bytes). Gap G13. */
const BODY_BYTES = 1_048_576

/** `open`, as many of `unit` as fit, `close`. */
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

/** Bodies of POST /v1/services of at most 1 MiB that are costly to parse, to check or to store, each for another reason. */
export const HOSTILE_BODIES: Readonly<Record<string, string>> = {
  'empty objects': fill(`${valid},"x":[`, () => '{}', ']}'),
  'names, each another one': fill(`${valid},"x":{`, (index) => `"${name(index)}":0`, '}}'),
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
