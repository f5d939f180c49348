import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { monitoringKills } from './monitoringKills.ts'
import { seededRandom } from './random.ts'

test('kills of server and agent during results lose no acknowledged one, duplicate no slot, and leave the states of a replay', async () => {
  const folder = testFolder()

  const report = await monitoringKills({
    ...{ folder, random: seededRandom(1) },
    // With this seed, the second kill follows an acknowledgement, which a server may have sent too early.
    victims: ['server', 'both', 'agent'],
  })

  expect(report).toMatchObject({ kills: 3, skipped: expect.any(Number) })
  expect(report.acknowledged).toBeGreaterThan(0)
})
