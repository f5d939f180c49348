import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildAll, buildPrograms } from '../build.mjs'
import { importedFrom } from './importGraph.ts'

/** How tests and their imports refer to built files: a path into dist/, the package of the bindings, their sources. */
const BUILT = /\bdist\/(?:pharos|terraform-provider)[-\w]*|'dist'|'pharos\/cdkt|cdktf\/\.gen/g

/** The thread of slow matches, which commands start beside the test's process. It needs no other program. */
const MATCHER = 'dist/pharos-matcher'

/**
 * Tests of whole programs run the program of a user, so the bundles are built from the sources under test first. If no
 * selected test refers to one, nothing is built, and if they refer only to the matcher, only that: a unit test starts at
 * once. Each project inherits this from the whole run, which builds for all of them.
 */
export default async function buildBeforeTests(project: TestProject): Promise<void> {
  if (!project.isRootProject()) return
  const { vitest, config } = project
  const tests = vitest.state.getPaths().map((path) => relative(config.root, path))
  const named = namesOfBuilt(tests)
  if ([...named].some((name) => name !== MATCHER)) await buildAll()
  else if (named.size > 0) await buildPrograms((out) => `dist/${out}` === `${MATCHER}.js`)
}

/** What is built that one of `files`, or what they import, names. */
function namesOfBuilt(files: readonly string[]): ReadonlySet<string> {
  const reached = new Set(files)
  const named = new Set<string>()
  for (const file of reached) {
    const text = readFileSync(file, 'utf8')
    for (const [name] of text.matchAll(BUILT)) named.add(name)
    for (const path of importedFrom(file, text)) if (!path.endsWith('.json')) reached.add(path)
  }
  return named
}
