import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeFolder, missingFolders, OWNER_ONLY } from '../../../api/runtime/makeFolder.ts'
import { fileReason } from '../../../api/runtime/fileReason.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { SetSettings } from '../config/settings.ts'

/** Folders that a set writes to. Pure. */
export function foldersOf({ mirrorDirectory, statePath }: SetSettings): readonly string[] {
  const mirrors = dirname(mirrorDirectory)
  return isGitLocation(statePath) ? [mirrors] : [mirrors, dirname(statePath)]
}

/** Creates `folder` and its missing parents, accessible to their owner only. Throws StateError with the folder that failed. */
export function makeSetFolder(folder: string): void {
  try {
    makeFolder(folder, OWNER_ONLY)
  } catch (error) {
    throw folderError(folder, error)
  }
}

/**
 * Throws the StateError of `makeSetFolder` if that could not create `folder` or write to it, but creates nothing: the user who
 * checks a configuration need not be the one who runs it.
 */
export function tryFolder(folder: string): void {
  const [first] = missingFolders(resolve(folder))
  try {
    // A temporary folder is created where the first missing folder would be.
    rmSync(mkdtempSync(join(first === undefined ? folder : dirname(first), '.pharos-check-')), {
      recursive: true,
    })
  } catch (error) {
    throw folderError(folder, error)
  }
}

/** Throws StateError when a file that `settings` name for access to a repository, or for signatures, cannot be read. */
export function tryFiles({ access, stateAccess, config }: SetSettings): void {
  const files = {
    'repository.sshKeyFile': access.sshKeyFile,
    'repository.knownHostsFile': access.knownHostsFile,
    'repository.caFile': access.caFile,
    'repository.allowedSigners': access.allowedSignersFile,
    'repository.allowedGpgKeys': access.gpgKeysFile,
    'stateAccess.sshKeyFile': stateAccess?.sshKeyFile,
    'stateAccess.knownHostsFile': stateAccess?.knownHostsFile,
    'stateAccess.caFile': stateAccess?.caFile,
  }
  for (const [field, file] of Object.entries(files)) {
    if (file === undefined) continue
    try {
      readFileSync(file)
    } catch (error) {
      throw new StateError(
        `${field} of the set ${config.name} is the file ${file}, which cannot be read: ${fileReason(error)}`,
      )
    }
  }
}

function folderError(folder: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `the folder ${folder} cannot be made or written to: ${reason}; make it for the user of this program, or name another dataDir`,
  )
}
