/** How a kind of database stores the services and authors of incidents, as SQL about an incident or window `i`. */
export interface IncidentSql {
  /** The table as `i`, read by this index. */
  readonly incidents: (index: string) => string
  readonly isByPerson: string
  /** The services of `i`, as a list. */
  readonly serviceIds: string
  /** A join with the services of `i`, as `s.service_id`. */
  readonly joinServices: string
  /** Whether the page `$2` lists a service of `i`. */
  readonly isListed: string
  /** From FROM on: open incidents `i` of the organisation `$1` and of the components `c` of the page `$2`. */
  readonly openOfComponents: string
  /** Updates `u` that have an author, with `actor_kind` and `actor`. */
  readonly authoredUpdates: string
}
