import { type IResolvable, type TerraformMetaArguments, Token } from 'cdktf'
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
    super(
      scope,
      id,
      inService(scope, id, () => serviceConfig(scope, id, config)),
    )
  }
}

function serviceConfig(scope: Construct, id: string, config: MonitoredServiceConfig): ServiceConfig {
  const { endpoints, interval = INTERVAL, name = id, paused, regions, timeouts, ...metaArguments } = config
  // Settings may come from files, which no compiler has checked.
  if (endpoints == null || (Array.isArray(endpoints) && endpoints.length === 0))
    throw new Error('at least one endpoint is needed')
  const codes = Token.isUnresolved(regions) ? Token.asList(regions) : regions
  if (!Array.isArray(codes) || codes.length === 0)
    throw new Error("at least one region is needed, in a list such as ['eu-west-1']")
  const list = 'expect' in endpoints ? [endpoints] : endpoints
  return {
    ...metaArguments,
    name,
    interval: checkedInterval(interval),
    regions: [...codes],
    ...(paused === undefined ? {} : { paused }),
    ...(timeouts === undefined ? {} : { timeouts: checkedTimeouts(timeouts) }),
    endpoints: list.map((endpoint) => endpoint.in(scope)),
  }
}

function checkedTimeouts(timeouts: NonNullable<ServiceDefaults['timeouts']>): ServiceTimeouts {
  const given = Object.entries(timeouts).filter(([, timeout]) => timeout !== undefined)
  return Object.fromEntries(given.map(([operation, timeout]) => [operation, checkedDuration(timeout)]))
}

/** The result of `define`, whose error names the service `id` in `scope`: the place in the program may make many. */
export function inService<T>(scope: Construct, id: string, define: () => T): T {
  try {
    return define()
  } catch (error) {
    const path = [scope.node.path, id].filter((step) => step !== '').join('/')
    throw new Error(`service ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
