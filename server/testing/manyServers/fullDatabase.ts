import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withConnection } from '../../store/postgres/schema/migrate.ts'

/** Size of the disk (MiB), and time for which it is full (milliseconds). */
const DISK_MIB = 64
const FULL_MS = 3_000
/** The user id with which root runs PostgreSQL. */
const NOBODY = 65_534
const WRITTEN_BYTES = 1024 * 1024

/** Moves the services of the database at `url` to a separate disk, and fills it for a while. */
export async function fillDiskOf(url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'pharos', folder])
  try {
    chownSync(folder, NOBODY, NOBODY)
    await withConnection(url, async (client) => {
      await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
      await client.query('ALTER TABLE services SET TABLESPACE small')
      const filling = join(folder, 'filling')
      fill(filling)
      await sleep(FULL_MS)
      rmSync(filling)
      await client.query('ALTER TABLE services SET TABLESPACE pg_default')
      await client.query('DROP TABLESPACE small')
    })
  } finally {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes to `file` until its disk is full. */
function fill(file: string): void {
  for (let written = 0; written <= DISK_MIB; written += 1) {
    try {
      writeFileSync(file, Buffer.alloc(WRITTEN_BYTES), { flag: 'a' })
    } catch {
      return
    }
  }
}
