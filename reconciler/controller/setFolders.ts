import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isGitLocation } from '../state/gitRef.ts'
import { StateError } from '../state/stateError.ts'
import type { SetSettings } from './config/settings.ts'

/** Folders that a set writes to. Pure. */
export function foldersOf({ mirrorDirectory, statePath }: SetSettings): readonly string[] {
  const mirrors = dirname(mirrorDirectory)
  return isGitLocation(statePath) ? [mirrors] : [mirrors, dirname(statePath)]
}

/** Makes `folder`, for its owner only, with those above it that are not there. Throws StateError that says which cannot be made. */
export function makeFolder(folder: string): void {
  try {
    // One by one: below /proc Node would try to make the first of them for ever.
    for (const step of missingOf(folder)) makeStep(step)
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is a file`)
  } catch (error) {
    throw cannotBeMade(folder, error)
  }
}

/**
 * Throws the StateError of `makeFolder` where that could not write to `folder`, and leaves everything as it is: whoever
 * checks a configuration need not be the one who runs it.
 */
export function tryFolder(folder: string): void {
  const [first] = missingOf(folder)
  try {
    // What is made and removed again stands where the first missing one would.
    rmSync(mkdtempSync(join(first === undefined ? folder : dirname(first), '.pharos-check-')), {
      recursive: true,
    })
  } catch (error) {
    throw cannotBeMade(folder, error)
  }
}

/** `folder` and those above it that are not there, the outermost first. */
function missingOf(folder: string): readonly string[] {
  if (existsSync(folder)) return []
  const above = dirname(folder)
  return above === folder ? [folder] : [...missingOf(above), folder]
}

function makeStep(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another replica made it in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function cannotBeMade(folder: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `the folder ${folder} cannot be made or written to: ${reason}; make it for the user of this program, or name another dataDir`,
  )
}
