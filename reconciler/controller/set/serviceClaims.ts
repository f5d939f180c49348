/** The owners of services among the sets of a controller: two sets never write to the same service. */
export class ServiceClaims {
  readonly #owners = new Map<string, string>()
  readonly #wanted = new Map<string, ReadonlySet<string>>()

  /** Claims an unowned service for `set`. Returns the name of another set that owns it, or null. */
  claim(set: string, serviceId: string): string | null {
    const owner = this.#owners.get(serviceId) ?? set
    this.#owners.set(serviceId, owner)
    return owner === set ? null : owner
  }

  /** Makes `set` the owner of exactly these services, except those that another set owns. */
  settle(set: string, serviceIds: ReadonlySet<string>): void {
    for (const [id, owner] of this.#owners) if (owner === set && !serviceIds.has(id)) this.#owners.delete(id)
    for (const id of serviceIds) this.claim(set, id)
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
