import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { killNotifications } from './notificationKills.ts'
import { seededRandom } from './random.ts'

test('despite three kills during a stream of incidents, each confirmed update arrives at two channels, with one id and in order', async () => {
  const folder = testFolder()

  const report = await killNotifications({
    dataDir: join(folder, 'data'),
    kills: 3,
    random: seededRandom(1),
  })

  expect(report.acknowledged).toBeGreaterThanOrEqual(30)
  expect(report.arrived).toBeGreaterThanOrEqual(2 * report.acknowledged)
})
