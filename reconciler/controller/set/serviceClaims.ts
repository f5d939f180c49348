/** Which set of a controller has which service: two of them never write the same one. */
export class ServiceClaims {
  readonly #owners = new Map<string, string>()
  readonly #wanted = new Map<string, ReadonlySet<string>>()

  /** Claims a service for `set` where no set has it: the name of another set that does, or null. */
  claim(set: string, serviceId: string): string | null {
    const owner = this.#owners.get(serviceId) ?? set
    this.#owners.set(serviceId, owner)
    return owner === set ? null : owner
  }

  /** From now on `set` has these services, as far as no other set has them, and no others. */
  settle(set: string, serviceIds: ReadonlySet<string>): void {
    for (const [id, owner] of this.#owners) if (owner === set && !serviceIds.has(id)) this.#owners.delete(id)
    for (const id of serviceIds) this.claim(set, id)
  }

  /** The manifests of `set` name these services by id. */
  want(set: string, serviceIds: ReadonlySet<string>): void {
    this.#wanted.set(set, serviceIds)
  }

  /** Services that `set` has and the manifests of another set name, with the name of that set. */
  wantedFrom(set: string): ReadonlyMap<string, string> {
    const wanted = [...this.#wanted].flatMap(([other, ids]) =>
      other === set ? [] : [...ids].map((id) => [id, other] as const),
    )
    return new Map(wanted.filter(([id]) => this.#owners.get(id) === set))
  }

  /** `set` is no longer kept: what it had is free, and it wants nothing. */
  release(set: string): void {
    this.settle(set, new Set())
    this.#wanted.delete(set)
  }
}
