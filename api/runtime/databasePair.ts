import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The first major version of Node on which better-sqlite3 13 runs: it needs version 10 of Node-API. */
const FIRST_NODE_OF_13 = 22
/** The first major version of Node on which better-sqlite3 12 aborts at random, also in the middle of a write. */
const FIRST_NODE_WITHOUT_12 = 24

/**
 * The command to run before this process can open a database; `undefined` when it can. Call it before better-sqlite3 is
 * imported: it is an optional dependency, and the wrong release of it crashes the process without a message.
 */
export function databaseProblem(): string | undefined {
  const installed = installedRelease()
  return (
    databasePairProblem(process.versions.node, installed?.version) ??
    (installed && binaryProblem(installed.folder))
  )
}

/**
 * The command that makes the binary of the better-sqlite3 in `folder`; `undefined` when it is there. npm does not run
 * install scripts with `--ignore-scripts`, and may leave them out without `--allow-scripts`.
 */
export function binaryProblem(folder: string): string | undefined {
  const binaries = ['build/Release/better_sqlite3.node', 'prebuilds']
  if (binaries.some((binary) => existsSync(join(folder, binary)))) return undefined
  return `better-sqlite3 has no binary, because npm did not run its install script: run "npm run install" in ${folder} and start again`
}

/**
 * The command to run before this Node and this better-sqlite3 can open a database; `undefined` when they can. No
 * release of better-sqlite3 runs on every Node that we support.
 *
 * `nodeVersion` as process.versions.node gives it; `sqliteVersion` is `undefined` when none is installed. Pure.
 */
export function databasePairProblem(
  nodeVersion: string,
  sqliteVersion: string | undefined,
): string | undefined {
  const node = Number.parseInt(nodeVersion, 10)
  const fitting = node < FIRST_NODE_OF_13 ? 12 : 13
  if (sqliteVersion === undefined) {
    return `data is kept in SQLite, and better-sqlite3 is not installed: install it with "npm install better-sqlite3@${fitting}" and start again`
  }
  const sqlite = Number.parseInt(sqliteVersion, 10)
  if ((node < FIRST_NODE_OF_13 && sqlite >= 13) || (node >= FIRST_NODE_WITHOUT_12 && sqlite <= 12)) {
    return `better-sqlite3 ${sqliteVersion} crashes on Node ${nodeVersion}: install the other release with "npm install --no-save better-sqlite3@${fitting}" and start again`
  }
  return undefined
}

/** The installed better-sqlite3, read without loading its native part; `undefined` when there is none. */
function installedRelease(): { readonly version: string; readonly folder: string } | undefined {
  try {
    const require = createRequire(import.meta.url)
    const manifest: unknown = require('better-sqlite3/package.json')
    const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
    return {
      version: isManifest ? String(manifest.version) : '',
      folder: dirname(require.resolve('better-sqlite3/package.json')),
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
