/** What no program may say. Each line that follows a directive is wrong, which a test shows of each by itself. */
import type { TerraformStack, TerraformVariable } from 'cdktf'
import {
  type Assertion,
  type Duration,
  get,
  type Interval,
  latency,
  MonitoredService,
  monitorEach,
  PharosProvider,
  secretFromEnv,
  secretText,
  status,
} from 'pharos/cdktf'

declare const stack: TerraformStack
declare const variable: TerraformVariable
declare const seconds: number
declare const text: string
const page = get('https://www.example.com/')
const config = { regions: ['eu-west-1'], endpoints: page }
const fleet = monitorEach(stack, { shop: 1 }, () => config)

// One of several shapes.
// @ts-expect-error: two operators
export const a1: Assertion = { statusCode: { gte: 200, lt: 300 } }
// @ts-expect-error: two operators on a latency
export const a2: Assertion = { latency: { phase: 'total', lt: '1s', lte: '1s' } }
// @ts-expect-error: two operators on a text
export const a3: Assertion = { header: { name: 'a', eq: 'b', contains: 'c' } }
// @ts-expect-error: no operator
export const a4: Assertion = { statusCode: {} }
// @ts-expect-error: no operator on a latency
export const a5: Assertion = { latency: { phase: 'total' } }
// @ts-expect-error: two kinds
export const a6: Assertion = { statusCode: { eq: 200 }, body: { contains: 'ok' } }
// @ts-expect-error: no kind
export const a7: Assertion = {}
// @ts-expect-error: no such operator
export const a8: Assertion = { statusCode: { equals: 200 } }
// @ts-expect-error: an operator of another kind
export const a9: Assertion = { dnsResolution: { eq: '50ms' } }
// @ts-expect-error: no phase
export const a10: Assertion = { latency: { lt: '1s' } }
// @ts-expect-error: no such phase
export const a11: Assertion = { latency: { phase: 'connect', lt: '1s' } }
// @ts-expect-error: one bound
export const a12: Assertion = { statusCode: { between: [200] } }
// @ts-expect-error: no name of a header
export const a13: Assertion = { header: { contains: 'json' } }
// @ts-expect-error: nothing to be one of
export const a14: Assertion = status.oneOf()
// @ts-expect-error: no such operator of a duration
export const a15: Assertion = latency.total.above('1s')
// @ts-expect-error: no assertion
export const a16 = page.expect(undefined)
// @ts-expect-error: two assertions are not one
export const a17 = page.expect([status.is(200), status.is(201)])

// Durations.
// @ts-expect-error: no unit
export const d1: Duration = '30'
// @ts-expect-error: a word for the unit
export const d2: Duration = '30 seconds'
// @ts-expect-error: a space
export const d3: Duration = '30 s'
// @ts-expect-error: a number
export const d4: Duration = 30
// @ts-expect-error: less than nothing
export const d5: Duration = '-5s'
// @ts-expect-error: an exponent
export const d6: Duration = '1e3s'
// @ts-expect-error: the smaller unit first
export const d7: Duration = '30s1m'
// @ts-expect-error: no unit that there is
export const d8: Duration = '1d'
// @ts-expect-error: nothing
export const d9: Duration = ''
// @ts-expect-error: no length
export const d10: Duration = 's'
// @ts-expect-error: a text that is not known to be a duration
export const d11: Duration = text
// @ts-expect-error: a number that is not known to be whole
export const d12: Duration = `${seconds}s`
// @ts-expect-error: not in whole seconds
export const d13: Interval = '500ms'
// @ts-expect-error: not in whole seconds
export const d14: Interval = '1.5s'
// @ts-expect-error: no unit in a builder
export const d15 = latency.total.below('800')
// @ts-expect-error: no unit in a timeout
export const d16 = page.timeout('10')

// Secrets.
// @ts-expect-error: a text
export const s1 = page.secretHeader('Authorization', 'Bearer hunter2')
// @ts-expect-error: a text
export const s2 = page.secretBody('hunter2')
// @ts-expect-error: a text in a text
export const s3 = secretText`Bearer ${'hunter2'}`
// @ts-expect-error: a text and no secret
export const s8 = secretText`Bearer hunter2`
// @ts-expect-error: a variable's value, which may not be sensitive
export const s4 = page.secretHeader('Authorization', variable.stringValue)
// @ts-expect-error: no variable that Terraform reads
export const s5 = secretFromEnv('PROBE_TOKEN')
// @ts-expect-error: a secret in clear
export const s6 = page.header('Authorization', secretFromEnv('TF_VAR_token'))
// @ts-expect-error: something that looks like a secret
export const s7 = page.secretBody({ in: () => 'hunter2' })

// @ts-expect-error: an API key in clear
export const s9 = new PharosProvider(stack, 'pharos', { apiKey: 'hunter2' })

// Services.
// @ts-expect-error: no regions
export const m1 = new MonitoredService(stack, 'm1', { endpoints: page })
// @ts-expect-error: no endpoints
export const m2 = new MonitoredService(stack, 'm2', { regions: ['eu-west-1'] })
// @ts-expect-error: no such setting
export const m3 = new MonitoredService(stack, 'm3', { ...config, intervall: '1m' })
// @ts-expect-error: no unit
export const m4 = new MonitoredService(stack, 'm4', { ...config, interval: '60' })
// @ts-expect-error: no such operation
export const m5 = new MonitoredService(stack, 'm5', { ...config, timeouts: { patch: '1m' } })
// @ts-expect-error: a URL is no endpoint
export const m6 = new MonitoredService(stack, 'm6', { ...config, endpoints: 'https://www.example.com/' })
// @ts-expect-error: a member of a list that has no name
export const m7 = monitorEach(stack, ['shop'], () => config)
// @ts-expect-error: no such member
export const m8 = fleet.blog
