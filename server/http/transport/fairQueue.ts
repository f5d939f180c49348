/** Who waits: the lanes of one organisation take turns among themselves, and organisations with one another. */
export interface Lane {
  readonly orgId: string
  readonly keyId: string
}

/**
 * Entries that wait, given out fairly: one of each organisation in turn, of an organisation one of each of its keys in
 * turn, and of a key the oldest first. However many one of them has waiting, the others have their turn.
 */
export class FairQueue<Entry extends Lane> {
  readonly #orgs = new Map<string, Map<string, Entry[]>>()

  /** How many of the organisation `orgId` wait. */
  count(orgId: string): number {
    let count = 0
    for (const entries of this.#orgs.get(orgId)?.values() ?? []) count += entries.length
    return count
  }

  get isEmpty(): boolean {
    return this.#orgs.size === 0
  }

  add(entry: Entry): void {
    const keys = this.#orgs.get(entry.orgId) ?? new Map<string, Entry[]>()
    const entries = keys.get(entry.keyId) ?? []
    entries.push(entry)
    keys.set(entry.keyId, entries)
    this.#orgs.set(entry.orgId, keys)
  }

  /** The entry whose turn it is, of those that `isWanted` and are the oldest of their key; `undefined` when there is none. */
  first(isWanted: (entry: Entry) => boolean = () => true): Entry | undefined {
    for (const keys of this.#orgs.values()) {
      for (const [oldest] of keys.values()) {
        if (oldest !== undefined && isWanted(oldest)) return oldest
      }
    }
    return undefined
  }

  /** Takes out `entry`, if it still waits: its organisation and its key are then the last in turn. */
  remove(entry: Entry): void {
    const keys = this.#orgs.get(entry.orgId)
    const entries = keys?.get(entry.keyId)
    const place = entries?.indexOf(entry) ?? -1
    if (keys === undefined || entries === undefined || place === -1) return
    entries.splice(place, 1)
    // A Map keeps the order in which names were set: what is set again stands last.
    keys.delete(entry.keyId)
    if (entries.length > 0) keys.set(entry.keyId, entries)
    this.#orgs.delete(entry.orgId)
    if (keys.size > 0) this.#orgs.set(entry.orgId, keys)
  }
}
