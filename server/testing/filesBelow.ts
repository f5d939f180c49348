import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The contents of the files below `folder` with a name that `isRead`, without those that a running program removes
 * meanwhile.
 */
export function filesBelow(folder: string, isRead: (name: string) => boolean): readonly Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isRead(entry.name))
    .flatMap((entry) => contentOf(join(entry.parentPath, entry.name)) ?? [])
}

/** `undefined` when the file has been removed since it was listed. */
export function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
