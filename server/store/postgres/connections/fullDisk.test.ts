import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sharedCluster } from '../../../testing/postgres/cluster.ts'
import { useUpSpace } from '../../../testing/robustness/useUpSpace.ts'
import { rootReason } from '../../../testing/rootReason.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../../testing/storedServices.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'

/** The user with which root runs PostgreSQL. */
const NOBODY = 65_534

const folder = mkdtempSync(join(tmpdir(), 'pharos-full-'))
afterAll(() => {
  spawnSync('/bin/umount', ['--lazy', folder])
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(rootReason !== null)(
  `on a full disk PostgreSQL refuses changes with a reason, and the server is unready until there is space${rootReason === null ? '' : ` (${rootReason})`}`,
  async () => {
    expect(spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=40m', 'pharos', folder]).status).toBe(0)
    chownSync(folder, NOBODY, NOBODY)
    const cluster = await sharedCluster()
    const url = await cluster.createMigrated()
    await withConnection(cluster.url, async (client) => {
      await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
      await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TABLESPACE small`)
    })
    const store = await openStore(url, STOPPED_CLOCKS)
    await store.activateMasterKey('first', 0)
    const orgId = await storeOrg(store)
    const create = () => storeService(store, orgId, { name: 'x'.repeat(100) })
    await store.assertDiskSpace()

    await useUpSpace(join(folder, 'rest'))
    let refusal: unknown
    while (refusal === undefined)
      refusal = await create().then(
        () => undefined,
        (error: unknown) => error,
      )
    const unready: unknown = await store.assertDiskSpace().catch((error: unknown) => error)
    rmSync(join(folder, 'rest'))
    await store.assertDiskSpace()
    await create()

    const message = expect.stringContaining('the disk of the database is full')
    expect([refusal, unready]).toMatchObject([
      { status: 500, message },
      { status: 503, message },
    ])
    await store.close()
    await cluster.drop(url)
    await withConnection(cluster.url, (client) => client.query('DROP TABLESPACE small'))
  },
)
