import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeOrg } from '../testing/seedFolder.ts'
import { startServer } from '../testing/startServer.ts'

test('the audit log names the server as the author of its first master key, and the operator of a rotation', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  const orgId = await makeOrg(dataDir)
  const server = await startServer({ engine: 'sqlite', dataDir })
  await server.close()
  await runHere(['master-key', 'rotate', '--data-dir', 'data'], { cwd: folder })

  const { stdout } = await runHere(['audit', 'list', '--data-dir', 'data', '--org', orgId, '--json'], {
    cwd: folder,
  })
  const entries: readonly { readonly action: string; readonly actor_kind: string }[] = JSON.parse(stdout)

  const ofKeys = entries.filter(({ action }) => action.startsWith('master_key'))
  expect(ofKeys.map(({ action, actor_kind }) => `${action} ${actor_kind}`).toSorted()).toEqual([
    'master_key.activate cli',
    'master_key.activate system',
    'master_key.retire cli',
  ])
})
