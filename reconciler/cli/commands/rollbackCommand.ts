import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { GitError, runGit } from '../../git/gitProgram.ts'
import { requireGit } from '../../git/gitVersion.ts'
import { sourceName } from '../../plan/sourceName.ts'
import { UsageError } from '../../run/failure.ts'
import { manifestReader } from '../../source/gitManifests.ts'
import { compiledCommit } from '../../source/gitSource.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { compileSources, type LoadedManifests } from '../session/manifests.ts'
import { aliasesMax } from '../session/settings.ts'
import { applyManifests } from './applyCommand.ts'
import { actorOf } from './operatorCommands.ts'

/** Suspension of everything: what is newer than the commit must not be applied over it. */
const EVERYTHING = '*'
/** Longest run of a git that only reads the disk (milliseconds). */
const GIT_MS_MAX = 60_000

/**
 * Applies the manifests as they were at the commit of `--to`, read from the repository without a checkout. The
 * set is suspended first, so that neither a pipeline nor a controller applies what is newer, whatever becomes of
 * this run; `pharos resume '*'` ends that.
 */
export async function rollbackCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { options, output } = context
  if (options.state === undefined) throw new UsageError('rollback needs --state: what was applied is there')
  if (options.to === undefined) throw new UsageError('rollback needs --to: the commit to go back to')
  if (aliasesMax(options) > 0)
    throw new UsageError('rollback takes no --allow-aliases: what a controller applies has none')
  const place = await placeOf(path, options.to, context)
  const { sha, subject } = place
  const reason = `rolled back to ${sha.slice(0, 12)} (${subject})${options.reason === undefined ? '' : `: ${options.reason}`}`
  const result = await applyManifests(path, context, {
    command: 'rollback',
    commitSha: sha,
    load: () => loadCommit(place, path, context),
    liftedScope: EVERYTHING,
    prepare: async (store) => {
      await store.suspend({
        scope: EVERYTHING,
        reason,
        actor: actorOf(context),
        since: new Date().toISOString(),
        until: null,
      })
      // Whatever becomes of the run: who does not know of it looks for the reason elsewhere.
      output.notice(`everything is suspended: "pharos resume '${EVERYTHING}'" lets applies through again`)
    },
  })
  return { ...result, document: { ...Object(result.document), commit: sha, suspended: reason } }
}

/** A path of a repository at a commit. */
interface Place {
  readonly sha: string
  readonly subject: string
  /** From the root of the repository, with forward slashes; `.` for the root. */
  readonly pathInside: string
  readonly git: (args: readonly string[], input?: string) => Promise<Buffer>
}

async function placeOf(path: string, revision: string, { env }: CommandContext): Promise<Place> {
  const existing = nearestDirectory(resolve(path))
  const git: Place['git'] = (args, input) =>
    runGit({
      access: { url: existing, scheme: 'file' },
      directory: existing,
      args,
      limitMs: GIT_MS_MAX,
      env,
      ...(input === undefined ? {} : { input }),
    })
  const said = async (args: readonly string[], problem: (reason: string) => string): Promise<string> => {
    try {
      await requireGit(env)
      return (await git(args)).toString('utf8').trim()
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      throw new UsageError(problem(error.message))
    }
  }
  const root = await said(
    ['rev-parse', '--show-toplevel'],
    (reason) => `${path} is in no git repository: ${reason}`,
  )
  const commit = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const sha = await said(commit, () => `the repository of ${path} has no commit ${revision}: see "git log"`)
  const subject = await said(
    ['log', '-1', '--no-mailmap', '--format=%s', sha],
    (reason) => `commit ${sha} cannot be read: ${reason}`,
  )
  const below = relative(
    realpathSync(root),
    resolve(realpathSync(existing), relative(existing, resolve(path))),
  )
  return { sha, subject, pathInside: below === '' ? '.' : below.split(sep).join('/'), git }
}

/** The folder at `path`, or the nearest above it: the path itself may be newer or older than the commit. */
function nearestDirectory(path: string): string {
  if (existsSync(path) && statSync(path).isDirectory()) return path
  return nearestDirectory(dirname(path))
}

async function loadCommit(
  { sha, pathInside, git }: Place,
  path: string,
  { options, env }: CommandContext,
): Promise<LoadedManifests> {
  const manifests = await manifestReader({ read: git }, pathInside).read(sha)
  if (!manifests.exists) throw new UsageError(`commit ${sha.slice(0, 12)} has nothing at ${pathInside}`)
  const set = await compiledCommit(manifests, compileSources(options, env, 'required'), options.env)
  return { exists: true, name: sourceName(basename(resolve(path)), options.env), files: manifests.files, set }
}
