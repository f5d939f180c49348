import { chownSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Gives `file`, which this process may have created, the owner of its folder. Only root can do so, and must: otherwise
 * a server running as that owner could not use the file.
 */
export function ownAsFolder(file: string): void {
  if (process.geteuid?.() !== 0) return
  const folder = statSync(dirname(file))
  if (statSync(file).uid !== folder.uid) chownSync(file, folder.uid, folder.gid)
}
