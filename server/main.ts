import { createRequire } from 'node:module'
import { databasePairProblem } from '../api/runtime/databasePair.ts'

/** Version of the installed better-sqlite3, read without loading its native part. */
function sqliteVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('better-sqlite3/package.json')
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : ''
}

async function main(): Promise<void> {
  // Before anything that could open a database: the wrong pair ends the process without a word.
  const problem = databasePairProblem(process.versions.node, sqliteVersion())
  if (problem !== undefined) throw new Error(problem)
  const { commandLine } = await import('./administration/commandLine.ts')
  await commandLine({
    write: (text) => process.stdout.write(text),
    environment: process.env,
  }).parseAsync()
}

main().catch((error: unknown) => {
  process.stderr.write(`pharos-server: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
