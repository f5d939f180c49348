import { setImmediate } from 'node:timers/promises'
import type { ServiceSet } from '../manifest/compile/declaredService.ts'
import { patternCheckFor } from '../manifest/compile/patterns.ts'
import { compileSteps, type SetSources } from '../manifest/compile/serviceSet.ts'
import { sortedProblems } from '../manifest/manifestProblem.ts'
import type { ValueSources } from '../manifest/values/valueReference.ts'
import type { Commit } from './gitCommit.ts'
import { type CommitManifests, manifestReader } from './gitManifests.ts'
import { BrokenMirror, type Mirror, type MirrorOptions, mirrorOf, SourceUnavailable } from './gitMirror.ts'

/** Settings of a source. */
export interface GitSourceOptions extends MirrorOptions {
  /** Folder or file of the manifests from the root of the repository; `.` for all of it. */
  readonly path: string
  /** The Environment whose variables and patches apply; absent for none. */
  readonly environment?: string | undefined
}

/** The compiled manifests of a commit. `set.problems` includes those of the files. */
export interface LoadedCommit {
  readonly commit: Commit
  /** Whether the commit has anything at the path. */
  readonly exists: boolean
  readonly set: ServiceSet
}

/** Inputs of compilation besides the files of the commit. */
export type CompileWith = Omit<ValueSources, 'rootDirectory' | 'readSetFile'>

/** A source of manifests in a repository. */
export interface GitSource extends Pick<Mirror, 'fetch' | 'commit' | 'contains' | 'signatureProblem'> {
  /** The manifests of commit `sha`. A broken mirror is created again, once. Throws SourceUnavailable, and UnknownEnvironment. */
  load(sha: string, compileWith: CompileWith): Promise<LoadedCommit>
}

/** Placeholder for the root of the set in names of files; nothing is read below it on this machine. */
const ROOT = '/set'

/** The source with `options`; does not access it yet. */
export function gitSource(options: GitSourceOptions): GitSource {
  const mirror = mirrorOf(options)
  const reader = manifestReader(mirror, options.path)
  const load = async (sha: string, compileWith: CompileWith): Promise<LoadedCommit> => {
    const commit = await mirror.commit(sha)
    const manifests = await reader.read(sha)
    const set = await compiledCommit(manifests, compileWith, options.environment)
    return { commit, exists: manifests.exists, set }
  }
  return {
    ...mirror,
    load: async (sha, compileWith) => {
      try {
        return await load(sha, compileWith)
      } catch (error) {
        if (!(error instanceof BrokenMirror)) throw error
      }
      mirror.discard()
      await mirror.fetch()
      try {
        return await load(sha, compileWith)
      } catch (error) {
        if (!(error instanceof BrokenMirror)) throw error
        throw new SourceUnavailable(error.message, { cause: error })
      }
    },
  }
}

/** Compiles the manifests of a commit. Throws BrokenMirror, and UnknownEnvironment. */
export async function compiledCommit(
  manifests: CommitManifests,
  compileWith: CompileWith,
  environment: string | undefined,
): Promise<ServiceSet> {
  const isPattern = await patternCheckFor(manifests.documents)
  const { readSetFile, problems: unread } = manifests
  const sources = { ...compileWith, rootDirectory: ROOT, readSetFile, isPattern, unread }
  let set = await compiled(manifests, sources, environment)
  // The first compilation determines the needed bodies; with them the set is compiled again.
  while (await manifests.fetchBodies()) set = await compiled(manifests, sources, environment)
  return { ...set, problems: sortedProblems([...manifests.problems, ...set.problems]) }
}

/** Compiles with a turn of the event loop after each service: other sets run in this process, and all leases are renewed. */
async function compiled(
  { documents }: CommitManifests,
  sources: SetSources,
  environment: string | undefined,
): Promise<ServiceSet> {
  const steps = compileSteps(documents, sources, environment)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await setImmediate()
  }
}
