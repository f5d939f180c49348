import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { startServer } from '../startServer.ts'

describe('a server on a restored copy keeps the contract', async () => {
  // Each file starts its server when it is imported. `npm run torture` runs all of them in this way; these depend most
  // on previously stored data. The query makes each another module than the one that this process may have imported.
  vi.stubEnv('PHAROS_TEST_RESTORED', 'yes')
  for (const name of ['pauseAndDelete', 'incidents', 'endpoints', 'extensions', 'tenancy']) {
    await import(/* @vite-ignore */ `./${name}.test.ts?restored`)
  }
  vi.unstubAllEnvs()
})

describe('a restored copy', () => {
  const folder = suiteFolder()
  let dataDir = ''
  const kept = async () => {
    const store = await openStore(dataDir, () => 0)
    const orgs = await store.listOrgs()
    const lists = await Promise.all(orgs.map(({ id }) => store.listServices(id)))
    await store.close()
    return lists.flat().map(({ text }) => serviceResponseSchema.parse(JSON.parse(text)).name)
  }
  beforeAll(async () => {
    dataDir = join(folder, 'data')
    const server = await startServer({ dataDir, isRestored: true })
    await server.close()
  })

  test('has what the backup had and nothing that came after', async () => {
    expect(await kept()).toEqual(['Checkout', 'Cart'])
  })

  test('does not start with another master key, nor with none', async () => {
    const file = defaultKeyFile(dataDir)
    const missing = /^master key \S+ of this database is missing from .+: put the file back, or name it with/

    await writeFile(file, `${randomBytes(32).toString('hex')}\n`)
    await expect(startServer({ dataDir })).rejects.toThrow(missing)
    await rm(file)
    await expect(startServer({ dataDir })).rejects.toThrow(missing)

    expect(await kept()).toEqual(['Checkout', 'Cart'])
  })
})
