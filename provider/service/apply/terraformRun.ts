/** The run of Terraform that this process serves. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, posix, resolve, win32 } from 'node:path'
import { processIdentity } from '../../../api/runtime/processIdentity.ts'
import { watchParent } from '../../protocol/plugin/parent.ts'

export interface TerraformRun {
  /** Identifies the Terraform process. A later one with the same process id has a different value. */
  readonly owner: string
  /** Identifies the state as far as a provider can: a hash of root module, data directory and workspace. */
  readonly workspace: string
  /** Whether the Terraform process `owner` on this machine is still running. */
  readonly isRunning: (owner: string) => boolean
  /**
   * Runs `settle` at the end, unless Terraform was killed or interrupted, or this process failed. `settle` must be
   * synchronous.
   */
  readonly onOrderlyEnd: (settle: () => void) => void
}

function dataDirectory(environment: NodeJS.ProcessEnv): string {
  return resolve(environment.TF_DATA_DIR || '.terraform')
}

/**
 * Folders for data shared between runs, in order of preference. The first is the user's, which all working directories
 * share (XDG Base Directory Specification; on Windows the folder of local data). The second is below Terraform's data
 * directory, if there is one.
 */
export function journalFolders(
  environment: NodeJS.ProcessEnv,
  platform: string = process.platform,
): readonly string[] {
  const own = stateFolder(environment, platform)
  const data = dataDirectory(environment)
  return [...(own === undefined ? [] : [own]), ...(existsSync(data) ? [join(data, 'pharos')] : [])]
}

function stateFolder(environment: NodeJS.ProcessEnv, platform: string): string | undefined {
  const { isAbsolute, join: joined } = platform === 'win32' ? win32 : posix
  const { XDG_STATE_HOME: named = '', HOME: home = '', LOCALAPPDATA: local = '' } = environment
  if (isAbsolute(named)) return joined(named, 'pharos/terraform')
  if (platform === 'win32') return isAbsolute(local) ? joined(local, 'pharos/terraform') : undefined
  return home === '' ? undefined : joined(home, '.local/state/pharos/terraform')
}

/**
 * The run that started this process. Terraform starts its providers in the folder of the root module. `interrupted`
 * aborts when Terraform is interrupted.
 */
export function currentRun(environment: NodeJS.ProcessEnv, interrupted: AbortSignal): TerraformRun {
  const parent = process.ppid
  const isParentThere = watchParent()
  return {
    owner: processIdentity(parent) ?? String(parent),
    workspace: createHash('sha256')
      .update(JSON.stringify(workspaceParts(environment)))
      .digest('hex'),
    isRunning: (owner) => processIdentity(Number.parseInt(owner, 10)) === owner,
    onOrderlyEnd: (settle) => {
      if (settling.length === 0) process.once('exit', (code) => settleAll(code, isParentThere()))
      // A second interruption ends Terraform before its state contains every service.
      settling.push(() => {
        if (!interrupted.aborted) settle()
      })
    },
  }
}

function workspaceParts(environment: NodeJS.ProcessEnv): readonly string[] {
  return [realpathSync('.'), dataDirectory(environment), workspaceName(environment)]
}

const settling: (() => void)[] = []

/**
 * Runs the settle functions, unless Terraform was killed: this process has then lost its parent, and the services may
 * be in no state.
 */
function settleAll(code: number, isParentThere: boolean): void {
  if (code === 0 && isParentThere) for (const settle of settling) settle()
}

function workspaceName(environment: NodeJS.ProcessEnv): string {
  if (environment.TF_WORKSPACE) return environment.TF_WORKSPACE
  try {
    return readFileSync(join(dataDirectory(environment), 'environment'), 'utf8').trim() || 'default'
  } catch {
    // Terraform creates the file when a workspace is first selected.
    return 'default'
  }
}
