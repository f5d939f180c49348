import { InvalidArgumentError } from 'commander'

/** An instant of ISO 8601. Without a zone, it would depend on the machine that reads it. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** Reads the value of an option that is an instant (milliseconds since the epoch). Throws when it is none. */
export function readInstant(text: string): number {
  const day = INSTANT.exec(text)?.[1]
  const ms = day === undefined ? Number.NaN : Date.parse(text)
  // Date accepts days that a month does not have, as days of the next month.
  if (!Number.isNaN(ms) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(`${day}T`)) return ms
  throw new InvalidArgumentError(
    'must be an instant with a zone, such as 2026-03-01T22:00:00Z or 2026-03-01T23:00:00+01:00',
  )
}
