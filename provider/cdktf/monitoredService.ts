import type { IResolvable, TerraformMetaArguments } from 'cdktf'
import type { Construct } from 'constructs'
import type { ServiceConfig, ServiceTimeouts } from './.gen/service'
import { checkedDuration, checkedInterval, type Duration, type Interval } from './duration.ts'
import type { Endpoint } from './endpoint.ts'
import type { Region } from './region.ts'
import { Service } from './service.ts'

/** Default time between two checks. */
const INTERVAL: Interval = '1m'

/** Settings shared by many services. */
export interface ServiceDefaults extends TerraformMetaArguments {
  /** Time between two checks, in whole seconds. Default: `1m`. */
  readonly interval?: Interval | undefined
  /** Codes of the regions to check from, at least one. */
  readonly regions: readonly Region[]
  /** Default: not managed, so that a manual pause is kept. */
  readonly paused?: boolean | IResolvable | undefined
  /** Time limits of operations, including waits for the rate limit. Default: 10 minutes each. */
  readonly timeouts?:
    | { readonly [Operation in 'create' | 'read' | 'update' | 'delete']?: Duration }
    | undefined
}

export interface MonitoredServiceConfig extends ServiceDefaults {
  /** Default: the construct's id. */
  readonly name?: string | undefined
  /** The endpoints to check: one, or several in order. */
  readonly endpoints: Endpoint | readonly Endpoint[]
}

/**
 * A service in short form; the same resource as `Service` of the bindings, with the same address and attributes. Throws
 * without an endpoint or a region, which no API accepts, and when its id has no valid Terraform address or
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
    interval: inService(id, () => checkedInterval(interval)),
    regions: [...regions],
    ...(paused === undefined ? {} : { paused }),
    ...(timeouts === undefined ? {} : { timeouts: inService(id, () => checkedTimeouts(timeouts)) }),
    endpoints: list.map((endpoint) => endpoint.in(scope)),
  }
}

function checkedTimeouts(timeouts: NonNullable<ServiceDefaults['timeouts']>): ServiceTimeouts {
  const given = Object.entries(timeouts).filter(([, timeout]) => timeout !== undefined)
  return Object.fromEntries(given.map(([operation, timeout]) => [operation, checkedDuration(timeout)]))
}

/** The result of `check`, whose error names the service: the place in the program may make many. */
function inService<T>(id: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw new Error(`service ${id}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
