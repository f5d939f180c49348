import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killLoop } from './killLoop.ts'
import { seededRandom } from './random.ts'

test('five kills during writes lose no acknowledged write and leave nothing half done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-kill-'))

  const report = await killLoop({ dataDir: join(folder, 'data'), kills: 5, random: seededRandom(1) })
  await rm(folder, { recursive: true })

  expect(report.kills).toBe(5)
  expect(report.services).toBeGreaterThan(0)
})
