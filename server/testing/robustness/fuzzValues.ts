import { endpointBody, serviceBody } from '../serviceBodies.ts'

type Random = () => number

/** One of `values`. */
export function pick<Value>(random: Random, values: readonly [Value, ...Value[]]): Value {
  return values[Math.floor(random() * values.length)] ?? values[0]
}

/** Values that break parsers: wrong types, extreme numbers, long and unusual texts, deep and tagged objects. */
function strangeValue(random: Random): unknown {
  return pick<() => unknown>(random, [
    () => null,
    () => true,
    () => pick(random, [0, -0, -1, 1.5, 2 ** 31, 2 ** 53 + 1, 1e308, -2_147_483_649]),
    () =>
      pick(random, [
        '',
        ' ',
        '\u0000',
        '\ud800',
        '\u202e',
        '🦑'.repeat(300),
        'x'.repeat(9_000),
        '%00',
        '../..',
      ]),
    () => Array.from({ length: Math.floor(random() * 130) }, () => 'eu-west-1'),
    () => ({}),
    () => ({ [pick(random, ['Http', 'GRPC', 'Eq', 'Sealed', 'value', 'constructor', 'toString'])]: {} }),
    () => ({ secs: pick(random, [0, -1, 60, 1e21]), nanos: pick(random, [0, 1, 1e9]) }),
    () => pick(random, ['(', '(?=a)', 'a{1001}', '(a+)+$', '[[:alpha:]]', '\\C', '(?i)'.repeat(200)]),
    () => JSON.parse(`${'['.repeat(80)}1${']'.repeat(80)}`) as unknown,
  ])()
}

const seconds = { secs: 1, nanos: 0 }

/** A definition with every possible field, from which mutations start. */
function fullService(): unknown {
  const call = {
    Http: {
      method: 'POST' as const,
      timeout: seconds,
      body: { value: 'x', sensitive: true },
      headers: { 'X-A': { value: 'y' }, 'X-B': { value: 'z', sensitive: true } },
      max_redirects_to_follow: 3,
      with_dns: true,
    },
  }
  const assertions = [
    { StatusCode: { expected: { Between: [200, 299] as [number, number] } } },
    { Latency: { l_type: 'TotalLatency' as const, expected: { LessThan: seconds } } },
    { DnsResoltion: { expected: { LessOrEqual: seconds } } },
    { Header: { name: 'x', matcher: { Regex: 'a+' } } },
    { Body: { matcher: { Contains: 'ok' } } },
  ]
  return serviceBody({ endpoints: [endpointBody({ name: 'Front', call, assertions })] })
}

/** A body for `path` with up to four random changes anywhere in it. */
export function fuzzBody(random: Random, path: string, serviceId: string): unknown {
  const base = path.includes('incidents')
    ? path.endsWith('updates')
      ? { body: 'x', status: 'monitoring', severity: 'major_outage' }
      : { title: 'x', message: 'x', severity: 'major_outage', service_ids: [serviceId] }
    : fullService()
  let body: unknown = base
  for (let change = Math.floor(random() * 5); change > 0; change -= 1) body = mutate(random, body)
  return body
}

/** `value` with one part replaced, removed, renamed or duplicated. */
function mutate(random: Random, value: unknown): unknown {
  if (random() < 0.15 || typeof value !== 'object' || value === null) return strangeValue(random)
  if (Array.isArray(value)) {
    const copy: unknown[] = [...value]
    const index = Math.floor(random() * copy.length)
    if (random() < 0.2) copy.push(copy[index])
    else copy[index] = mutate(random, copy[index])
    return copy
  }
  const entries = Object.entries(value)
  const index = Math.floor(random() * entries.length)
  const [key = '', nested] = entries[index] ?? []
  if (random() < 0.15) return Object.fromEntries(entries.filter(([each]) => each !== key))
  if (random() < 0.15)
    return { ...value, [pick(random, ['extra', 'constructor', key.toUpperCase()])]: nested }
  return { ...value, [key]: mutate(random, nested) }
}

/** Bytes that are not JSON, or nearly JSON. */
export function fuzzBytes(random: Random): Buffer {
  const text = JSON.stringify(fullService())
  return pick(random, [
    () => Buffer.from(Array.from({ length: 200 }, () => Math.floor(random() * 256))),
    () => Buffer.from(text.slice(0, Math.floor(random() * text.length))),
    () => Buffer.from(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`),
    () => Buffer.from(text.replace('"x"', '"\\ud834"')),
    () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text)]),
  ])()
}
