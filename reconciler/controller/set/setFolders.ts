import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeFolder, missingFolders, OWNER_ONLY } from '../../../api/runtime/makeFolder.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { SetSettings } from '../config/settings.ts'

/** Folders that a set writes to. Pure. */
export function foldersOf({ mirrorDirectory, statePath }: SetSettings): readonly string[] {
  const mirrors = dirname(mirrorDirectory)
  return isGitLocation(statePath) ? [mirrors] : [mirrors, dirname(statePath)]
}

/** Makes `folder`, for its owner only, with those above it that are not there. Throws StateError that says which cannot be made. */
export function makeSetFolder(folder: string): void {
  try {
    makeFolder(folder, OWNER_ONLY)
  } catch (error) {
    throw cannotBeMade(folder, error)
  }
}

/**
 * Throws the StateError of `makeSetFolder` where that could not write to `folder`, and leaves everything as it is: the
 * user who checks a configuration need not be the one who runs it.
 */
export function tryFolder(folder: string): void {
  const [first] = missingFolders(resolve(folder))
  try {
    // What is made and removed again stands where the first missing one would.
    rmSync(mkdtempSync(join(first === undefined ? folder : dirname(first), '.pharos-check-')), {
      recursive: true,
    })
  } catch (error) {
    throw cannotBeMade(folder, error)
  }
}

function cannotBeMade(folder: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `the folder ${folder} cannot be made or written to: ${reason}; make it for the user of this program, or name another dataDir`,
  )
}
