/** The owner of a waiting entry. Organisations take turns, and so do the lanes of one organisation. */
export interface Lane {
  readonly orgId: string
  readonly keyId: string
}

/**
 * A fair queue. Organisations take turns, within an organisation its keys take turns, and a key's oldest entry comes
 * first. A long queue of one owner does not delay the others.
 */
export class FairQueue<Entry extends Lane> {
  readonly #orgs = new Map<string, Map<string, Entry[]>>()

  /** Number of waiting entries of the organisation `orgId`. */
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

  /** The next entry that `isWanted` accepts among the oldest of each key; `undefined` when there is none. */
  first(isWanted: (entry: Entry) => boolean = () => true): Entry | undefined {
    for (const keys of this.#orgs.values()) {
      for (const [oldest] of keys.values()) {
        if (oldest !== undefined && isWanted(oldest)) return oldest
      }
    }
    return undefined
  }

  /** Removes `entry` if it still waits, and moves its organisation and key to the end of their queues. */
  remove(entry: Entry): void {
    const keys = this.#orgs.get(entry.orgId)
    const entries = keys?.get(entry.keyId)
    const place = entries?.indexOf(entry) ?? -1
    if (keys === undefined || entries === undefined || place === -1) return
    entries.splice(place, 1)
    // A Map keeps insertion order: setting a name again moves it to the end.
    keys.delete(entry.keyId)
    if (entries.length > 0) keys.set(entry.keyId, entries)
    this.#orgs.delete(entry.orgId)
    if (keys.size > 0) this.#orgs.set(entry.orgId, keys)
  }
}
