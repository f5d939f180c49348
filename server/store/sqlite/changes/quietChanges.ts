import type { Database } from 'better-sqlite3'

/** Records a change of a service without a command, in the caller's transaction. */
export type NoteQuietChange = (serviceId: string) => void

/** Prepares recording changes without commands. Only the newest one of a service is kept. */
export function prepareQuietChange(writer: Database): NoteQuietChange {
  const insert = writer.prepare('INSERT OR REPLACE INTO quiet_changes (service_id) VALUES (?)')
  return (serviceId) => {
    insert.run(serviceId)
  }
}
