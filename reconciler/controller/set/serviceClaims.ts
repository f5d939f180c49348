/** The set that owns a service; `isCertain` is false when its state is not open yet, so that it may own any service. */
export interface ServiceOwner {
  readonly set: string
  readonly isCertain: boolean
}

/** The owners of services among the sets of a controller: two sets never write to the same service. */
export class ServiceClaims {
  /** Sets whose state is not open yet. */
  readonly #unopened: Set<string>
  readonly #owners = new Map<string, string>()
  readonly #wanted = new Map<string, ReadonlySet<string>>()

  constructor(sets: Iterable<string>) {
    this.#unopened = new Set(sets)
  }

  /** Makes `set`, whose state was opened, the owner of the services in it, except those that another set owns. */
  open(set: string, serviceIds: readonly string[]): void {
    this.#unopened.delete(set)
    for (const id of serviceIds) this.#own(set, id)
  }

  /** Claims an unowned service for `set`. Returns another set that owns it, or may own it; null for none. */
  claim(set: string, serviceId: string): ServiceOwner | null {
    const [unopened] = this.#owners.has(serviceId) ? [] : [...this.#unopened].filter((one) => one !== set)
    if (unopened !== undefined) return { set: unopened, isCertain: false }
    const owner = this.#own(set, serviceId)
    return owner === set ? null : { set: owner, isCertain: true }
  }

  /** Makes `set` the owner of an unowned service. Returns the owner. */
  #own(set: string, serviceId: string): string {
    const owner = this.#owners.get(serviceId) ?? set
    this.#owners.set(serviceId, owner)
    return owner
  }

  /** Makes `set` the owner of exactly these services, except those that another set owns. */
  settle(set: string, serviceIds: ReadonlySet<string>): void {
    for (const [id, owner] of this.#owners) if (owner === set && !serviceIds.has(id)) this.#owners.delete(id)
    for (const id of serviceIds) this.#own(set, id)
  }

  /** Records the services that the manifests of `set` name by id. */
  want(set: string, serviceIds: ReadonlySet<string>): void {
    this.#wanted.set(set, serviceIds)
  }

  /** Services of `set` that the manifests of another set name, with the name of that set. */
  wantedFrom(set: string): ReadonlyMap<string, string> {
    const wanted = [...this.#wanted].flatMap(([other, ids]) =>
      other === set ? [] : [...ids].map((id) => [id, other] as const),
    )
    return new Map(wanted.filter(([id]) => this.#owners.get(id) === set))
  }
}
