import { closeSync, fsyncSync, openSync } from 'node:fs'

/**
 * Makes creations, renames and removals in `folder` durable: flushing a file does not flush its name. Throws the error
 * of Node when the folder cannot be opened for reading, or flushed.
 */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
