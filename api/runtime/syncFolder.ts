import { closeSync, fsyncSync, openSync } from 'node:fs'

/**
 * Makes creations, renames and removals in `folder` durable: flushing a file does not flush its name. Throws the error
 * of Node when the folder cannot be opened for reading, or flushed. Does nothing on Windows, which refuses to flush a folder
 * and keeps names in the journal of its file system.
 */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
