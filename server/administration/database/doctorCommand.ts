import type { Command } from 'commander'
import type { MasterKey } from '../../domain/seal.ts'
import { readKeys } from '../../secrets/keyring.ts'
import { assertExists, type Engine } from '../../store/engine.ts'
import { type Finding, findingOf, isBroken } from '../../store/finding.ts'
import { failureOf } from '../failures/failure.ts'
import { ShownFailure } from '../failures/shownFailure.ts'
import { databaseCommand } from '../options/databaseCommand.ts'
import { engineOf } from '../options/databaseOption.ts'
import { keySourceOf, type MasterKeyOptions, masterKeyOption } from '../options/masterKeyOption.ts'
import { withStore } from '../options/withStore.ts'
import { present, table } from '../text/output.ts'

const NO_KEY_NEEDED = 'none is needed yet'

/** Adds `doctor`, which prints findings about a database; the exit code is 1 when acknowledged changes could be lost. */
export function addDoctorCommand(
  program: Command,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  databaseCommand(
    program,
    'doctor',
    'check the configuration and the durability; fails when changes could be lost',
  )
    .addOption(masterKeyOption())
    .action(async (options: MasterKeyOptions, command: Command) => {
      const engine = engineOf(options)
      // A PostgreSQL database exists before a server or a move creates its tables; a folder does not.
      if (options.dataDir !== undefined) await assertExists(engine)
      const findings = [
        ...(await engine.examine('whole')),
        await judgeSchema(engine),
        await judgeMasterKeys(engine, () =>
          readKeys(keySourceOf(options, environment), options.dataDir ?? null),
        ),
      ]
      const { place, schemaVersion } = engine
      const isDurable = !findings.some(isBroken)
      const page = `${place}\n\n${table(findings, { HEALTH: 'health', CHECK: 'check', FOUND: 'text' })}`
      present(command, options.json, { place, schemaVersion, isDurable, findings }, page)
      if (!isDurable) throw new ShownFailure('changes can be lost')
    })
}

async function judgeSchema(engine: Engine): Promise<Finding> {
  const version = await engine.schemaNow()
  if (version === undefined) {
    return { check: 'schema', health: 'ok', text: 'none yet: the first start creates it' }
  }
  return findingOf('schema', {
    health: 'warning',
    problem:
      version === engine.schemaVersion
        ? undefined
        : `schema ${version} where this release has ${engine.schemaVersion}: run "pharos-server migrate", or start a newer release`,
    ok: `schema ${version}`,
  })
}

/** Whether the master keys open every secret. Skipped for another schema, because reading would migrate it. */
async function judgeMasterKeys(engine: Engine, keys: () => readonly MasterKey[]): Promise<Finding> {
  const check = 'master_key'
  const version = await engine.schemaNow()
  if (version === undefined) return { check, health: 'ok', text: NO_KEY_NEEDED }
  if (version !== engine.schemaVersion) {
    return { check, health: 'warning', text: 'not checked: the schema is of another release' }
  }
  const needed = await withStore(engine, (store) => store.masterKeyIds())
  if (needed.length === 0) return { check, health: 'ok', text: NO_KEY_NEEDED }
  let known: readonly string[]
  try {
    known = keys().map(({ id }) => id)
  } catch (error) {
    return { check, health: 'broken', text: failureOf(error).message }
  }
  const missing = needed.filter((id) => !known.includes(id))
  return findingOf(check, {
    health: 'broken',
    problem:
      missing.length > 0
        ? `sealed values need the master keys ${missing.join(', ')}, which are not among those given`
        : undefined,
    ok: 'every sealed value can be opened',
  })
}
