import type { IResolvable, TerraformMetaArguments } from 'cdktf'
import type { Construct } from 'constructs'
import type { ServiceConfig, ServiceTimeouts } from './.gen/service'
import { checkedDuration, checkedInterval, type Duration, type Interval } from './duration.ts'
import type { Endpoint } from './endpoint.ts'
import type { Region } from './region.ts'
import { Service } from './service.ts'

/** Time between two checks of a service that says nothing of it. */
const INTERVAL: Interval = '1m'

/** What many services have in common. */
export interface ServiceDefaults extends TerraformMetaArguments {
  /** Time between two checks, in whole seconds. Default: `1m`. */
  readonly interval?: Interval | undefined
  /** Codes of the regions to check from, at least one. */
  readonly regions: readonly Region[]
  /** Left out: as it is, so that a pause by hand survives. */
  readonly paused?: boolean | IResolvable | undefined
  /** How long operations may take, waiting for the rate limit included. Default: 10 minutes each. */
  readonly timeouts?:
    | { readonly [Operation in 'create' | 'read' | 'update' | 'delete']?: Duration }
    | undefined
}

export interface MonitoredServiceConfig extends ServiceDefaults {
  /** Default: the construct's id. */
  readonly name?: string | undefined
  /** What is checked: one endpoint, or several in order. */
  readonly endpoints: Endpoint | readonly Endpoint[]
}

/**
 * A service in few words, and the same resource as the bindings' `Service`: same address, same attributes. Throws
 * when it has no endpoint or no region, which no API takes, and when no Terraform address can be made of its id or
 * another service of the stack has the same.
 */
export class MonitoredService extends Service {
  constructor(scope: Construct, id: string, config: MonitoredServiceConfig) {
    super(scope, id, serviceConfig(scope, id, config))
  }
}

function serviceConfig(scope: Construct, id: string, config: MonitoredServiceConfig): ServiceConfig {
  const { endpoints, interval = INTERVAL, name = id, paused, regions, timeouts, ...metaArguments } = config
  const list = 'expect' in endpoints ? [endpoints] : endpoints
  if (list.length === 0) throw new Error(`service ${id} needs at least one endpoint`)
  if (regions.length === 0) throw new Error(`service ${id} needs at least one region`)
  return {
    ...metaArguments,
    name,
    interval: checkedInterval(interval),
    regions: [...regions],
    ...(paused === undefined ? {} : { paused }),
    ...(timeouts === undefined ? {} : { timeouts: checkedTimeouts(timeouts) }),
    endpoints: list.map((endpoint) => endpoint.in(scope)),
  }
}

function checkedTimeouts(timeouts: NonNullable<ServiceDefaults['timeouts']>): ServiceTimeouts {
  const given = Object.entries(timeouts).filter(([, timeout]) => timeout !== undefined)
  return Object.fromEntries(given.map(([operation, timeout]) => [operation, checkedDuration(timeout)]))
}
