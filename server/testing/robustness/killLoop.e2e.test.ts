import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { killLoop } from './killLoop.ts'
import { seededRandom } from './random.ts'

test('three kills during writes lose no acknowledged write and leave nothing half done', async () => {
  const folder = testFolder()

  const report = await killLoop({ dataDir: join(folder, 'data'), kills: 3, random: seededRandom(1) })

  expect(report.kills).toBe(3)
  expect(report.services).toBeGreaterThan(0)
})
