import { statfs } from 'node:fs/promises'
import { ApiError } from '../../api/contract/apiError.ts'

/** Room on the disk below which a server is not ready: some of the largest requests (bytes). */
const ROOM_BYTES_MIN = 4 * 1_024 * 1_024

/**
 * Rejects with `unavailable` when the disk of `dataDir` is nearly full. A small write may still find a place
 * in the log where larger ones no longer do, so that trying one does not tell.
 */
export async function assertRoom(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < ROOM_BYTES_MIN) {
    throw new ApiError('unavailable', 'the disk of the data folder is nearly full: make room')
  }
}
