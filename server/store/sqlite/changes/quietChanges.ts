import type { Database } from 'better-sqlite3'

/** Notes that a service changed without a command to a region, in the caller's transaction. */
export type NoteQuietChange = (serviceId: string) => void

/** Prepares the notes of changes that no command tells of. Only the newest of a service is kept. */
export function prepareQuietChange(writer: Database): NoteQuietChange {
  const insert = writer.prepare('INSERT OR REPLACE INTO quiet_changes (service_id) VALUES (?)')
  return (serviceId) => {
    insert.run(serviceId)
  }
}
