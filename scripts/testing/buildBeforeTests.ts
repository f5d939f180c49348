import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildAll, buildPrograms } from '../build.mjs'
import { importedFrom } from './importGraph.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The package file that npm would publish. */
    packed: string
    /** NODE_EXTRA_CA_CERTS, for npm, which downloads packages. Other programs run without it. */
    npmAuthorities: string
  }
}

/**
 * The ways in which tests and their imports refer to builds: the package, a path into dist/, the bindings, their
 * sources.
 */
const BUILT =
  /\binject\('packed'\)|\bdist\/(?:pharos|terraform-provider)[-\w]*|'dist'|'pharos\/cdkt|cdktf\/\.gen/g

/** The thread for slow matches, which commands start in the test's process. It needs no other program. */
const MATCHER = 'dist/pharos-matcher'

/** How tests refer to the package that npm would publish. */
const PACKED = "inject('packed')"

/**
 * Tests of whole programs run the users' programs, so the bundles are first built from the sources under test. If no
 * selected test refers to one, nothing is built, and if they refer only to the matcher, only that is: a unit test
 * starts immediately. Packing takes as long as building, and is done once for all tests that install the package. Each
 * project inherits this from the whole run, which builds for all of them.
 */
export default async function buildBeforeTests(project: TestProject): Promise<(() => void) | undefined> {
  if (!project.isRootProject()) return undefined
  const { vitest, config } = project
  const tests = vitest.state.getPaths().map((path) => relative(config.root, path))
  const named = namesOfBuilt(tests)
  if ([...named].some((name) => name !== MATCHER)) await buildAll()
  else if (named.size > 0) await buildPrograms((out) => `dist/${out}` === `${MATCHER}.js`)
  if (!named.has(PACKED)) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'pharos-packed-'))
  project.provide('packed', join(folder, packInto(folder)))
  project.provide('npmAuthorities', process.env.NODE_EXTRA_CA_CERTS ?? '')
  return () => rmSync(folder, { recursive: true })
}

/** Packs the checkout as npm would publish it. Returns the name of the file in `folder`. */
function packInto(folder: string): string {
  // The script prepare has already built the bundles under test.
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]
  return execFileSync('npm', args, { encoding: 'utf8' }).trim()
}

/** The builds to which `files`, or the files that they import, refer. */
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
