import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Number of packs above which git's automatic garbage collection merges them, `gc.autoPackLimit`. A mirror has packs
 * only, one of each transfer.
 */
export const PACKS_MAX = 50

/** The number of packs of the mirror in `directory`. */
export function packsIn(directory: string): number {
  return packFiles(directory).filter((name) => name.endsWith('.pack')).length
}

/** Whether a transfer that was ended has left a file of `bytes` or more. */
export function hasLargeLeftover(directory: string, bytes: number): boolean {
  return leftoversIn(directory).some((file) => statSync(file).size >= bytes)
}

/** Removes partial packs of killed transfers, which may be as large as the repository. */
export function removeLeftovers(directory: string): void {
  for (const file of leftoversIn(directory)) rmSync(file, { force: true })
}

function leftoversIn(directory: string): readonly string[] {
  return packFiles(directory)
    .filter((name) => /^(?:tmp_|\.tmp-)/.test(name))
    .map((name) => join(packsOf(directory), name))
}

function packFiles(directory: string): readonly string[] {
  const packs = packsOf(directory)
  return existsSync(packs) ? readdirSync(packs) : []
}

function packsOf(directory: string): string {
  return join(directory, 'objects', 'pack')
}
