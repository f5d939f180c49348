import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fileErrorText, isFileError } from '../../../api/runtime/fileReason.ts'
import { makeBareRepository } from '../../git/bareRepository.ts'
import type { GitAccess } from '../../git/gitAccess.ts'
import { GitError, runGit } from '../../git/gitProgram.ts'
import { branchProblem, gitSchemeOf, isAddress, withoutLogin } from '../../git/gitUrl.ts'
import { requireGit } from '../../git/gitVersion.ts'
import { writeCommit } from '../../git/looseObject.ts'
import { StateError } from '../model/stateError.ts'
import { takeWorkFolder, type WorkFolder } from '../sqlite/workFolder.ts'

/** A ref of a git repository, with the access to it. */
export interface GitRefLocation {
  readonly access: GitAccess
  /** Full name, such as refs/pharos/production. */
  readonly ref: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ends calls of git when aborted; absent for never. */
  readonly signal?: AbortSignal | undefined
}

/** Another writer changed the ref since it was read. */
export class RefMoved extends StateError {
  constructor(name: string) {
    super(`${name} was changed by another writer at the same time: run again`, 'lost')
  }
}

/** Maximum of attempts when other pushes come first. */
const TRIES_MAX = 5

/** Repeats `work`, up to TRIES_MAX times, when another push came first. */
export async function retryOnRefMoved<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RefMoved) || tries === TRIES_MAX) throw error
    }
  }
}

/** Access to the repository of a state besides its address. */
export type StateAccess = Pick<GitAccess, 'credential' | 'sshKeyFile' | 'knownHostsFile' | 'caFile'>

/** Longest call of git (milliseconds). */
const LIMIT_MS = 60_000
/** Number of writes between two garbage collections of the local repository, because every renewal adds files. */
const WRITES_PER_CLEANUP = 50
/** Local ref of the last fetched commit. */
const READ_REF = 'refs/pharos-read'
/** Author of all commits. */
const AUTHOR = 'pharos <pharos@localhost>'
/** Prefix of locations in git. */
const PREFIX = 'git:'
/** Form of a location in git, for messages. */
export const GIT_LOCATION_FORM =
  'git:ADDRESS#refs/pharos/NAME, where ADDRESS is https://…, ssh://…, git@host:path or a path'

/** Whether `location` is in git. Pure. */
export function isGitLocation(location: string): boolean {
  return location.startsWith(PREFIX)
}

/**
 * Parses `location`: `git:ADDRESS#REF`. Missing fields of `access` are taken from the variables `PHAROS_GIT_…`. Throws
 * StateError with the expected form.
 */
export function gitLocationOf(
  location: string,
  env: Readonly<Record<string, string | undefined>>,
  access: StateAccess = {},
): GitRefLocation {
  const [address = '', ref = '', ...rest] = location.slice(PREFIX.length).split('#')
  const name = ref.replace(/^refs\//, '')
  if (rest.length > 0 || name === ref || branchProblem(name) !== undefined) {
    throw new StateError(`the state ${withoutLogin(location)} names no ref: use ${GIT_LOCATION_FORM}`)
  }
  const url = isAddress(address) ? address : pathToFileURL(resolve(address)).href
  const found = gitSchemeOf(url, { file: true })
  if ('problem' in found)
    throw new StateError(`the address of the state ${found.problem} (form: ${GIT_LOCATION_FORM})`)
  return { access: { url, scheme: found.scheme, ...accessIn(env), ...access }, ref, env }
}

function accessIn(env: Readonly<Record<string, string | undefined>>): StateAccess {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name])
  const token = given('PHAROS_GIT_TOKEN')
  return {
    credential:
      token === undefined
        ? undefined
        : { username: given('PHAROS_GIT_USERNAME') ?? 'x-access-token', password: token },
    sshKeyFile: given('PHAROS_GIT_SSH_KEY_FILE'),
    knownHostsFile: given('PHAROS_GIT_KNOWN_HOSTS_FILE'),
    caFile: given('PHAROS_GIT_CA_FILE'),
  }
}

/** Whether the ref exists. Throws StateError when the repository cannot be reached. */
export async function refExists(location: GitRefLocation): Promise<boolean> {
  await usable(requireGit(location.env))
  // Runs in /, because a missing working directory would look like a missing git.
  return (await listedCommit(location, { directory: '/', isExpected: false })) !== ''
}

/**
 * The commit of the ref in the remote repository; empty when it has no such ref. `isExpected` when it had one before.
 * Throws StateError.
 */
async function listedCommit(
  location: GitRefLocation,
  { directory, isExpected }: { readonly directory: string; readonly isExpected: boolean },
): Promise<string> {
  const { access, ref } = location
  const list = async (protocolOnly: boolean): Promise<string> => {
    const output = await git(location, directory, ['ls-remote', '--', access.url, ref], { protocolOnly })
    const lines = output.toString('utf8').split('\n')
    // Refs that only end with the same words are listed too.
    return lines.find((line) => line.endsWith(`\t${ref}`))?.split('\t')[0] ?? ''
  }
  // A ref that is listed comes from git. The evidence takes long in a repository of many refs.
  const found = isExpected ? await list(false) : ''
  // To git, the page of a proxy or of a login is a repository without refs, and every service would seem to be new.
  return found === '' ? list(true) : found
}

/** The files of a state in git. */
export interface StateFiles {
  readonly state: string
  readonly lease: string
  /** When they were written (milliseconds since the epoch), by the writer's clock; null when unknown. */
  readonly writtenAtMs?: number | null
}

/** Stores the files, with a compare-and-swap write. */
export interface StateRef {
  readonly name: string
  /** The current files; null when the ref does not exist. Throws StateError. */
  read(): Promise<StateFiles | null>
  /**
   * Replaces the files. Temporary ones are not kept in the history: the next write replaces them. Throws RefMoved when
   * another writer changed the ref since it was read, StateError for other failures.
   */
  write(files: StateFiles, message: string, isTemporary?: boolean): Promise<void>
  close(): void
}

/**
 * One ref of a remote repository whose commits contain the state. A write is a commit that the remote accepts only if
 * the ref has not changed since the last read or write.
 */
export class GitRef implements StateRef {
  readonly name: string
  readonly #location: GitRefLocation
  readonly #folder: WorkFolder
  readonly #writesPerCleanup: number
  /** Last known commit of the ref; empty for none. */
  #tip = ''
  /** The files of that commit. */
  #atTip: StateFiles | null = null
  /** Parent of the next commit: the last one that is not passing. */
  #parent = ''
  #writes = 0

  private constructor(location: GitRefLocation, folder: WorkFolder, writesPerCleanup: number) {
    this.name = `${location.access.url}#${location.ref}`
    this.#location = location
    this.#folder = folder
    this.#writesPerCleanup = writesPerCleanup
  }

  /**
   * Opens a ref with a local repository for commits, which `close` removes and which is garbage-collected after every
   * `writesPerCleanup` writes.
   */
  static async open(location: GitRefLocation, writesPerCleanup = WRITES_PER_CLEANUP): Promise<GitRef> {
    await usable(requireGit(location.env))
    const folder = await takeWorkFolder('git-state')
    try {
      makeBareRepository(folder.path)
      return new GitRef(location, folder, writesPerCleanup)
    } catch (error) {
      folder.remove()
      throw error
    }
  }

  async read(): Promise<StateFiles | null> {
    const commit = await this.#listed()
    if (commit === '') {
      this.#tip = ''
      this.#parent = ''
      return null
    }
    if (commit !== this.#tip) await this.#fetch()
    return this.#atTip
  }

  /** Reads the commit that the ref has now. */
  async #fetch(): Promise<void> {
    const { access, ref } = this.#location
    const refspec = `+${ref}:${READ_REF}`
    await this.#git(['fetch', '--quiet', '--no-tags', '--depth=1', '--', access.url, refspec])
    const wanted = [READ_REF, `${READ_REF}:state.json`, `${READ_REF}:lease.json`].map((name) => `${name}\n`)
    const [tip, state, lease] = objectsIn(await this.#git(['cat-file', '--batch'], wanted.join('')))
    if (tip === undefined || state === undefined || lease === undefined)
      throw new StateError(`${this.name} contains no state of pharos: name another ref with --state`)
    const [, secs] = /^committer .* (\d+) [+-]\d+$/m.exec(tip.content) ?? []
    // The ref may have moved since it was listed.
    this.#tip = tip.id
    this.#parent = tip.id
    this.#atTip = { state: state.content, lease: lease.content, writtenAtMs: Number(secs) * 1_000 }
  }

  async write({ state, lease }: StateFiles, message: string, isTemporary = false): Promise<void> {
    const atSecs = Math.floor(Date.now() / 1_000)
    const files = [
      { name: 'lease.json', content: lease },
      { name: 'state.json', content: state },
    ]
    const parent = this.#parent === '' ? undefined : this.#parent
    const fields = { parent, message, author: AUTHOR, atSecs }
    const commit = await usable(writeCommit(this.#folder.path, files, fields))
    const { access, ref } = this.#location
    const expected = `--force-with-lease=${ref}:${this.#tip}`
    try {
      await this.#git(['push', '--quiet', expected, '--', access.url, `${commit}:${ref}`])
    } catch (error) {
      // The ref shows whether another push came first or the push failed for another reason.
      const now = await this.#listed()
      if (now !== commit) throw now === this.#tip ? error : new RefMoved(this.name)
    }
    this.#tip = commit
    this.#atTip = { state, lease, writtenAtMs: atSecs * 1_000 }
    if (!isTemporary) this.#parent = commit
    this.#writes += 1
    // A failed garbage collection does not affect the write.
    if (this.#writes % this.#writesPerCleanup === 0) await this.#collectGarbage().catch(() => {})
  }

  /** Collects garbage, and keeps the objects of the next commit. */
  async #collectGarbage(): Promise<void> {
    await this.#git(['update-ref', 'refs/pharos-tip', this.#tip])
    if (this.#parent !== '') await this.#git(['update-ref', 'refs/pharos-parent', this.#parent])
    await this.#git(['gc', '--quiet', '--prune=now'])
  }

  close(): void {
    this.#folder.remove()
  }

  #listed(): Promise<string> {
    return listedCommit(this.#location, { directory: this.#folder.path, isExpected: this.#tip !== '' })
  }

  #git(args: readonly string[], input?: string): Promise<Buffer> {
    return git(this.#location, this.#folder.path, args, { input })
  }
}

/** An object of a repository, its content as text. */
interface GitObject {
  readonly id: string
  readonly content: string
}

/** Parses the output of `git cat-file --batch`; `undefined` for missing objects. Pure. */
function objectsIn(output: Buffer): readonly (GitObject | undefined)[] {
  const objects: (GitObject | undefined)[] = []
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf('\n', start)
    const [, id, size] = /^([0-9a-f]{40,64}) \w+ (\d+)$/.exec(output.toString('utf8', start, end)) ?? []
    const contentEnd = end + 1 + Number(size ?? -1)
    objects.push(id === undefined ? undefined : { id, content: output.toString('utf8', end + 1, contentEnd) })
    start = contentEnd + 1
  }
  return objects
}

function git(
  { access, env, signal }: GitRefLocation,
  directory: string,
  args: readonly string[],
  { input = '', protocolOnly = false }: { input?: string | undefined; protocolOnly?: boolean } = {},
): Promise<Buffer> {
  return usable(runGit({ access, directory, args, input, limitMs: LIMIT_MS, signal, env, protocolOnly }))
}

async function usable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const isOurs = error instanceof GitError || isFileError(error)
    if (!isOurs) throw error
    const reason = error instanceof GitError ? error.message : fileErrorText(error)
    throw new StateError(`the state in git cannot be used: ${reason}`, 'unusable', { cause: error })
  }
}
