import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killNotifications } from './notificationKills.ts'
import { seededRandom } from './random.ts'

test('despite three kills during a stream of incidents, each confirmed update arrives at two channels, with one id and in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-kill-'))

  const report = await killNotifications({
    dataDir: join(folder, 'data'),
    kills: 3,
    random: seededRandom(1),
  })
  await rm(folder, { recursive: true })

  expect(report.acknowledged).toBeGreaterThanOrEqual(30)
  expect(report.arrived).toBeGreaterThanOrEqual(2 * report.acknowledged)
})
