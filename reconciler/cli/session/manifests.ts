import { basename, resolve } from 'node:path'
import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import { patternCheckFor } from '../../manifest/compile/patterns.ts'
import { compileSet } from '../../manifest/compile/serviceSet.ts'
import { sortedProblems } from '../../manifest/manifestProblem.ts'
import { sourceName } from '../../plan/sourceName.ts'
import { UsageError } from '../../run/failure.ts'
import { readManifests } from '../../source/manifestFiles.ts'
import type { Output } from '../../text/output.ts'
import type { CommandContext } from './context.ts'
import { secretsDirectory } from './settings.ts'

/** Reads and compiles the manifests below `path`. */
export async function loadManifests(
  path: string,
  { output, options, env }: CommandContext,
  secrets: 'required' | 'optional',
) {
  const source = readManifests(path, (done, total) => output.progress(`read ${done} of ${total} files`))
  const isPattern = await patternCheckFor(source.documents)
  const set = compileSet(
    source.documents,
    {
      env,
      secretsDirectory: secretsDirectory(options, env),
      allowInlineSecrets: options.allowInlineSecrets === true,
      secrets,
      rootDirectory: source.rootDirectory,
      unread: source.problems,
      isPattern,
      onProgress: (done, total) => output.progress(`compiled ${done} of ${total} manifests`),
    },
    options.env,
  )
  output.progress('')
  const problems = sortedProblems([...source.problems, ...set.problems])
  return {
    exists: source.exists,
    // Without parents, so that the name is the same in every checkout.
    name: sourceName(basename(resolve(path)), options.env),
    files: source.files,
    set: { ...set, problems },
  }
}

/** The error of a path on the command line that does not exist. */
export function missingPath(path: string): UsageError {
  const advice = /[.]plan$/i.test(path)
    ? 'plans are not files: name the folder of the manifests, and add --plan with the digest that "pharos plan" shows'
    : 'name a folder of manifests, or one file; "pharos init" makes a folder with a first manifest'
  return new UsageError(`there is nothing at ${path}: ${advice}`)
}

/** Reports a set without a service, which is usually caused by a wrong path. */
export function noticeEmpty(
  { services, frozenKeys, problems }: ServiceSet,
  path: string,
  output: Output,
): void {
  if (services.length + frozenKeys.length + problems.length === 0)
    output.notice(`there is no Service manifest at ${path}: is that the right path?`)
}
