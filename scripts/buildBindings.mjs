/**
 * Builds the CDKTF bindings and the layer on top twice from one source: dist/cdktf for the library `cdktf`, and
 * dist/cdktn for its successor `cdktn`. They differ in the name that they import.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** The libraries for which the bindings are built. The sources import the first. */
export const LIBRARIES = ['cdktf', 'cdktn']

/** The text of a source or built file, with its imports of `cdktf` changed to `library`. */
export function importing(library, text) {
  return text.replaceAll(/(\bfrom |\brequire\()(['"])cdktf\2/g, `$1$2${library}$2`)
}

/**
 * Replaces the source extensions that the compiler leaves in declarations, because other compilers may not find them.
 */
function withBuiltExtensions(text) {
  return text.replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'")
}

/** Paths of all files below `folder`, relative to it. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

/** Builds into the `dist` of `root`. `write` writes one file. */
export function buildBindings(root, write) {
  const dist = join(root, 'dist')
  const built = mkdtempSync(join(tmpdir(), 'pharos-bindings-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const args = [compiler, '-p', join(root, 'provider/cdktf'), '--outDir', built]
    execFileSync(process.execPath, args, { stdio: 'inherit' })
    const files = filesBelow(built)
    for (const library of LIBRARIES) {
      const folder = join(dist, library)
      for (const file of files) {
        const text = readFileSync(join(built, file), 'utf8')
        mkdirSync(dirname(join(folder, file)), { recursive: true })
        const declaration = file.endsWith('.d.ts') ? withBuiltExtensions(text) : text
        write(join(folder, file), Buffer.from(importing(library, declaration)))
      }
      // The bindings are CommonJS inside a package of ES modules.
      write(join(folder, 'package.json'), Buffer.from('{"type":"commonjs"}\n'))
      const stale = filesBelow(folder).filter((file) => file !== 'package.json' && !files.includes(file))
      for (const file of stale) rmSync(join(folder, file))
    }
  } finally {
    rmSync(built, { recursive: true })
  }
}
