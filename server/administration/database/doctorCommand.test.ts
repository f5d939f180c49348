import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { runHere } from '../../testing/commandHere.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { startServer } from '../../testing/startServer.ts'

let folder: string
let dataDir: string
beforeEach(() => {
  folder = testFolder()
  dataDir = join(folder, 'data')
})

const doctor = (...args: readonly string[]) => runHere(['doctor', '--data-dir', dataDir, ...args])

test('doctor reports on durability, and fails when sealed values cannot be opened', async () => {
  const missing = await doctor()
  // The first start makes and activates the master key. It goes on meanwhile.
  const server = await startServer({ engine: 'sqlite', dataDir, isRestored: false })
  const page = await doctor()
  const document = await doctor('--json')
  await server.close()
  rmSync(defaultKeyFile(dataDir))
  const broken = await doctor()
  const brokenDocument = await doctor('--json')

  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no data in') })
  expect([page.code, page.stderr]).toEqual([0, ''])
  expect(page.stdout).toMatch(/^ok +durability +a commit is on disk/m)
  expect(page.stdout).toMatch(/^ok +master_key +every sealed value can be opened$/m)
  expect(JSON.parse(document.stdout)).toMatchObject({ place: dataDir, isDurable: true })
  expect([broken.code, broken.stderr]).toEqual([1, ''])
  expect(broken.stdout).toMatch(/^broken +master_key +there is no /m)
  expect([brokenDocument.code, JSON.parse(brokenDocument.stdout)]).toMatchObject([1, { isDurable: false }])
})

test('doctor examines an empty PostgreSQL database, before a server or a move writes to it', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createEmpty()

  const { stdout, stderr } = await runHere(['doctor', '--database', url])
  await cluster.drop(url)

  expect(stderr).not.toContain('there is no')
  expect(stdout).toMatch(/^ok +version +PostgreSQL /m)
  expect(stdout).toMatch(/^ok +schema +none yet: the first start creates it$/m)
  expect(stdout).toMatch(/^ok +master_key +none is needed yet$/m)
})
