const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** `id` if it is a UUID; else `null`, which matches no row: PostgreSQL would refuse to compare other text. Pure. */
export function uuidOrNull(id: string): string | null {
  return UUID.test(id) ? id : null
}

/** The UUIDs among `ids`, each once. Pure. */
export function uuidsIn(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].filter((id) => UUID.test(id))
}
