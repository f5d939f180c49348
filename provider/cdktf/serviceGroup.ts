import type { Construct } from 'constructs'
import { monitorEach } from './fleet.ts'
import { MonitoredService, type MonitoredServiceConfig, type ServiceDefaults } from './monitoredService.ts'

/** A service of a group, with the group's settings as defaults. */
export interface GroupedServiceConfig extends Partial<ServiceDefaults> {
  /** Default: the construct's id. */
  readonly name?: string | undefined
  readonly endpoints: MonitoredServiceConfig['endpoints']
}

/** Services of a stack, or of a part of it, with shared settings. Their addresses are those of services without a group. */
export class ServiceGroup {
  readonly #scope: Construct
  readonly #defaults: ServiceDefaults

  constructor(scope: Construct, defaults: ServiceDefaults) {
    this.#scope = scope
    this.#defaults = defaults
  }

  /** A group with the same settings but for `changes`. */
  with(changes: Partial<ServiceDefaults>): ServiceGroup {
    return new ServiceGroup(this.#scope, merged(this.#defaults, changes))
  }

  /** A service. Throws as MonitoredService does. */
  monitor(id: string, config: GroupedServiceConfig): MonitoredService {
    return new MonitoredService(this.#scope, id, merged(this.#defaults, config))
  }

  /** A service for each entry of a record, identified by its key. Throws as `monitorEach` does. */
  monitorEach<Key extends string, Entry>(
    entries: Readonly<Record<Key, Entry>>,
    define: (entry: Entry, key: Key) => GroupedServiceConfig,
  ): Record<Key, MonitoredService> {
    return monitorEach(this.#scope, entries, (entry, key) => merged(this.#defaults, define(entry, key)))
  }
}

/** Leaves out undefined values. */
function merged<Base extends ServiceDefaults, Changes extends Partial<ServiceDefaults>>(
  base: Base,
  changes: Changes,
): Base & Omit<Changes, keyof ServiceDefaults> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  // True because nothing of base is replaced by undefined.
  return { ...base, ...given } as Base & Omit<Changes, keyof ServiceDefaults>
}
