/**
 * Whether this Node and this better-sqlite3 may open a database together: what to type when not, `undefined`
 * when they may. No release of better-sqlite3 runs on every Node that we support: 13 ends the process on
 * Node 20, and 12 aborts at random on Node 24 and later, also in the middle of a write.
 *
 * `nodeVersion` as process.versions.node gives it. Pure.
 */
export function databasePairProblem(nodeVersion: string, sqliteVersion: string): string | undefined {
  const node = Number.parseInt(nodeVersion, 10)
  const sqlite = Number.parseInt(sqliteVersion, 10)
  if (node < 22 && sqlite >= 13)
    return refusal(nodeVersion, sqliteVersion, 'npm install --no-save better-sqlite3@12')
  if (node >= 24 && sqlite <= 12)
    return refusal(nodeVersion, sqliteVersion, 'npm install --no-save better-sqlite3@13')
  return undefined
}

function refusal(nodeVersion: string, sqliteVersion: string, command: string): string {
  return `better-sqlite3 ${sqliteVersion} crashes on Node ${nodeVersion}: install the other release with "${command}" and start again`
}
