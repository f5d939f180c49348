import { type Command, Option } from 'commander'
import { SCOPES, type Scope } from '../../api/contract/org.ts'
import { hashKey, mintKey } from '../domain/apiKeys.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Longest text of `--created-by` (code points). Gap G35. */
const CREATED_BY_CHARS_MAX = 255

interface CreateOptions extends DatabaseOptions {
  readonly org: string
  readonly scope: Scope
  readonly createdBy?: string
}

/** Adds `key create`, `key list` and `key revoke`. */
export function addKeyCommands(program: Command, write: Write): void {
  const key = program.command('key').description('API keys')
  addDatabase(key.command('create').description('create a key; it is shown only once'))
    .requiredOption('--org <id>', 'organisation that the key belongs to')
    .addOption(new Option('--scope <scope>', 'scope of the key').choices([...SCOPES]).default('read_write'))
    .option(
      '--created-by <text>',
      'requester of the key, for the record only',
      readableOption(CREATED_BY_CHARS_MAX),
    )
    .action(async (options: CreateOptions) => {
      const minted = mintKey(systemEnvironment)
      const id = systemEnvironment.uuid()
      await inDatabase(options, (store) =>
        store.createKey({
          id,
          orgId: options.org,
          scope: options.scope,
          hash: hashKey(minted),
          last4: minted.slice(-4),
          createdBy: options.createdBy ?? null,
          note: null,
          by: { kind: 'cli' },
          nowMs: systemEnvironment.nowMs(),
        }),
      )
      present(write, options.json, { key: minted, id }, minted)
    })
  addDatabase(key.command('list').description('list the keys of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async (options: DatabaseOptions & { org: string }) => {
      const keys = await inDatabase(options, (store) => store.listKeys(options.org))
      const rows = keys.map(({ id, last4, scope, createdAt, revokedAt, createdBy }) => [
        id,
        last4,
        scope,
        createdAt,
        revokedAt ?? '-',
        createdBy ?? '-',
      ])
      present(
        write,
        options.json,
        keys,
        table(['ID', 'LAST4', 'SCOPE', 'CREATED', 'REVOKED', 'CREATED BY'], rows),
      )
    })
  addDatabase(key.command('revoke').description('revoke a key; its next request is refused'))
    .requiredOption('--id <id>', 'id of the key, from "key list"')
    .action(async (options: DatabaseOptions & { id: string }) => {
      await inDatabase(options, (store) =>
        store.revokeKey({ id: options.id, by: { kind: 'cli' }, nowMs: systemEnvironment.nowMs() }),
      )
      present(write, options.json, { id: options.id }, `revoked ${options.id}`)
    })
}
