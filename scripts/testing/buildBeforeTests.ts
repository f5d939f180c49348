import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildAll } from '../build.mjs'
import { importedFrom } from './importGraph.ts'

/** How tests and their imports refer to built files: a path into dist/, the package of the bindings, their sources. */
const BUILT = /\bdist\/(?:pharos|terraform-provider)|'dist'|'pharos\/cdkt|cdktf\/\.gen/

/**
 * Tests of whole programs run the program of a user, so the bundles are built from the sources under test first. If no
 * selected test refers to one, nothing is built: a unit test starts at once.
 */
export default async function buildBeforeTests({ vitest, config }: TestProject): Promise<void> {
  const tests = vitest.state.getPaths().map((path) => relative(config.root, path))
  if (namesWhatIsBuilt(tests)) await buildAll()
}

/** Whether one of `files`, or what they import, names what is built. */
function namesWhatIsBuilt(files: readonly string[]): boolean {
  const reached = new Set(files)
  for (const file of reached) {
    const text = readFileSync(file, 'utf8')
    if (BUILT.test(text)) return true
    for (const path of importedFrom(file, text)) if (!path.endsWith('.json')) reached.add(path)
  }
  return false
}
