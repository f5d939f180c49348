import { type Command, Option } from 'commander'
import { SCOPES, type Scope } from '../../api/contract/org.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { newKey } from '../domain/apiKeys.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { databaseCommand, inStore, listed, type OrgOptions, orgCommand } from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'

/** Longest text of `--created-by` (code points). Gap G35. */
const CREATED_BY_CHARS_MAX = 255

interface CreateOptions extends OrgOptions {
  readonly scope: Scope
  readonly createdBy?: string
}

/** Adds `key create`, `key list` and `key revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys')
  orgCommand(key, 'create', 'create a key; it is shown only once')
    .addOption(new Option('--scope <scope>', 'scope of the key').choices([...SCOPES]).default('read_write'))
    .option(
      '--created-by <text>',
      'requester of the key, for the record only',
      readableOption(CREATED_BY_CHARS_MAX),
    )
    .action(
      inStore(async (store, { org: orgId, scope, createdBy }: CreateOptions) => {
        const { key: text, ...made } = newKey(systemEnvironment)
        const nowMs = systemEnvironment.nowMs()
        const about = { orgId, scope, createdBy: createdBy ?? null, note: null, by: OPERATOR, nowMs }
        await store.createKey({ ...made, ...about })
        return { value: { key: text, id: made.id }, text }
      }),
    )
  orgCommand(key, 'list', 'list the keys of an organisation').action(
    inStore(async (store, { org }: OrgOptions) =>
      listed(await store.listKeys(org), {
        ID: 'id',
        LAST4: 'last4',
        SCOPE: 'scope',
        CREATED: 'createdAt',
        REVOKED: 'revokedAt',
        'CREATED BY': 'createdBy',
      }),
    ),
  )
  databaseCommand(key, 'revoke', 'revoke a key; its next request is refused')
    .requiredOption('--id <id>', 'id of the key, from "key list"')
    .action(
      inStore(async (store, { id }: DatabaseOptions & { readonly id: string }) => {
        await store.revokeKey({ id, by: OPERATOR, nowMs: systemEnvironment.nowMs() })
        return { value: { id }, text: `revoked ${id}` }
      }),
    )
}
