import type Sqlite from 'better-sqlite3'

/** Rows that belong to monitors, by table: older databases lack some. */
const TABLES = {
  monitor_notification: 'SELECT monitor_id, notification_id FROM monitor_notification',
  monitor_tag:
    'SELECT monitor_id, tag.name, value FROM monitor_tag JOIN tag ON tag.id = tag_id ORDER BY monitor_tag.id',
} as const

/** The monitors of a database of Uptime Kuma in the form of its export. Throws when it has none. */
export function monitorsOf(database: Sqlite.Database): string {
  const monitors = database.prepare<[], { id: number }>('SELECT * FROM monitor ORDER BY id').all()
  const [tags, notifications] = [rowsOf(database, 'monitor_tag'), rowsOf(database, 'monitor_notification')]
  return monitorRows(
    monitors.map((monitor) => {
      const own = notifications.filter((row) => row.monitor_id === monitor.id)
      return {
        ...monitor,
        tags: tags.filter((row) => row.monitor_id === monitor.id),
        notificationIDList: Object.fromEntries(own.map((row) => [String(row.notification_id), true])),
      }
    }),
  )
}

interface Row {
  readonly monitor_id: number
  readonly notification_id?: number
}

function rowsOf(database: Sqlite.Database, table: keyof typeof TABLES): readonly Row[] {
  const found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
  return found === undefined ? [] : database.prepare<[], Row>(TABLES[table]).all()
}

/** Monitors as a document with one on each line, so that a line is the number of a row. Pure. */
export function monitorRows(rows: readonly unknown[]): string {
  return `{"monitorList": [${rows.map((row) => JSON.stringify(row)).join(',\n')}]}`
}
