import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fillDisk } from './diskFull.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-full-'))
const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=56m', 'pharos', folder]).status === 0
const skipReason = mounted ? null : 'only root may mount a small disk'
afterAll(() => {
  if (mounted) spawnSync('/bin/umount', [folder])
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(skipReason !== null)(
  `on a full disk reads, deletes, pauses, revocations and restarts work, and nothing is lost${skipReason === null ? '' : ` (${skipReason})`}`,
  async () => {
    const { acknowledged } = await fillDisk(folder)

    expect(acknowledged).toBeGreaterThan(0)
  },
)
