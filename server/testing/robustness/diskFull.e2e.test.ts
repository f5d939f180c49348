import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rootReason } from '../rootReason.ts'
import { fillDisk } from './diskFull.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-full-'))
afterAll(() => {
  spawnSync('/bin/umount', [folder])
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(rootReason !== null)(
  `on a full disk reads, deletes, pauses, revocations and restarts work, and nothing is lost${rootReason === null ? '' : ` (${rootReason})`}`,
  async () => {
    expect(spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=48m', 'pharos', folder]).status).toBe(0)

    const { acknowledged } = await fillDisk(folder)

    expect(acknowledged).toBeGreaterThan(0)
  },
)
