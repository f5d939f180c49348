/** What a program may say: this file compiles, and is never run. */
import type { TerraformStack, TerraformVariable } from 'cdktf'
import {
  type Assertion,
  type Duration,
  duration,
  get,
  type Interval,
  latency,
  MonitoredService,
  monitorEach,
  type ServiceDefaults,
  type ServiceEndpointsAssertions,
  secretFromEnv,
  secretFromVariable,
  secretText,
  status,
} from 'pharos/cdktf'

declare const stack: TerraformStack
declare const variable: TerraformVariable
declare const seconds: number

export const durations: readonly Duration[] = ['30s', '1m30s', '800ms', '1.5s', '0s', '2h', '1h2m3s4ms5us6ns']
export const intervals: readonly Interval[] = ['30s', '1m30s', '2h', '1h0m5s']
export const assertions: readonly Assertion[] = [
  { statusCode: { between: [200, 299] } },
  { latency: { phase: 'total', lt: '800ms' } },
  { dnsResolution: { lte: '50ms' } },
  { header: { name: 'content-type', contains: 'json' } },
  { body: { regex: '^ok' } },
]
/** What the layer says, the bindings take too. */
export const inBindings: ServiceEndpointsAssertions[] = [status.is(200), ...assertions]
/** A list that is shared by many endpoints. */
export const shared = get('https://www.example.com/').expect(...assertions)
const defaults: ServiceDefaults = { interval: '1m', regions: ['eu-west-1'] }

new MonitoredService(stack, 'computed', {
  ...defaults,
  interval: duration(`${seconds}s`),
  paused: variable.booleanValue,
  endpoints: get('https://www.example.com/')
    .timeout(duration(variable.stringValue))
    .secretHeader('Authorization', secretText`Bearer ${secretFromEnv('TF_VAR_token')}`)
    .secretBody(secretFromVariable(variable))
    .expect(status.between(200, 299), latency.total.below('800ms')),
})

const fleet = monitorEach(stack, { shop: 1, blog: 2 }, () => ({
  ...defaults,
  endpoints: [get('https://a.example/')],
}))
export const { id } = fleet.shop
