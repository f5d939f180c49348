import { spawn } from 'node:child_process'

/** How git reaches a repository. Everything here comes from the operator, nothing from a repository. */
export interface GitAccess {
  readonly url: string
  /** The one way that git may take. */
  readonly scheme: 'https' | 'ssh' | 'file'
  /** For https: sent to the address' own host only; absent where none is needed. */
  readonly credential?: { readonly username: string; readonly password: string } | undefined
  /** For ssh: the private key, and the hosts that are known. */
  readonly sshKeyFile?: string | undefined
  readonly knownHostsFile?: string | undefined
  /** For https: certificates to trust besides the system's. */
  readonly caFile?: string | undefined
  /** Keys that may sign commits, in the form of `ssh-keygen`; absent where commits need no signature. */
  readonly allowedSignersFile?: string | undefined
}

/** git ended with an error. `message` is what git said, without any credential. */
export class GitError extends Error {
  override readonly name = 'GitError'
  /** Null when it was ended by a signal, such as that of the time limit. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What one call of git is given. */
export interface GitCall {
  readonly access: GitAccess
  /** Where to run; the bare mirror, once there is one. */
  readonly directory: string
  readonly args: readonly string[]
  readonly input?: string
  /** Longest run (milliseconds). */
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
  /** Variables of the operator's own, of which only a few reach git. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Longest text of git that is passed on (characters). */
const MESSAGE_CHARS_MAX = 500
/** Variables that git and ssh need to work at all. */
const PASSED_ON = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']

/** Runs the real git, without a shell, and resolves to its output. Throws GitError, or the signal's reason. */
export function runGit(call: GitCall): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...call.args], {
      cwd: call.directory,
      env: environmentOf(call),
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: call.limitMs,
      killSignal: 'SIGKILL',
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    })
    const chunks: Buffer[] = []
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      if (said.length < MESSAGE_CHARS_MAX) said += chunk.toString('utf8')
    })
    child.on('error', (error) => {
      reject(call.signal?.aborted === true ? call.signal.reason : notStarted(error))
    })
    child.on('close', (exitCode) => {
      if (exitCode === 0) resolve(Buffer.concat(chunks))
      else reject(new GitError(shown(said, call, exitCode), exitCode))
    })
    // git may end before it has read all: what it then says is the better message.
    child.stdin.on('error', () => {})
    child.stdin.end(call.input ?? '')
  })
}

function notStarted(error: Error): GitError {
  return new GitError(`git could not be started: ${error.message}; install git, or correct PATH`, null)
}

function shown(said: string, { access, args, limitMs }: GitCall, exitCode: number | null): string {
  const secret = access.credential?.password
  const clean = secret === undefined || secret === '' ? said : said.replaceAll(secret, '…')
  const text = clean
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_CHARS_MAX)
  if (exitCode === null) return `git ${args[0]} was ended after ${limitMs / 1_000} s`
  return text === '' ? `git ${args[0]} ended with ${exitCode}` : text
}

/**
 * The whole environment of git. No file of the machine or of a user configures it; no hook, helper, filter or
 * prompt runs; and what goes over the wire is checked before it is stored.
 */
function environmentOf({ access, env }: GitCall): Record<string, string> {
  const settings = Object.entries(configurationOf(access))
  const passed = PASSED_ON.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: access.scheme,
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_SSH_COMMAND: sshCommandOf(access),
    // In the environment rather than in the arguments, which everybody on the machine can read.
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

function configurationOf(access: GitAccess): Record<string, string> {
  const { credential, caFile, allowedSignersFile, url } = access
  const login = credential && Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
  return {
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.symlinks': 'false',
    'core.attributesFile': '/dev/null',
    'credential.helper': '',
    'fetch.fsckObjects': 'true',
    'transfer.fsckObjects': 'true',
    'fetch.recurseSubmodules': 'false',
    'submodule.recurse': 'false',
    'gc.autoDetach': 'false',
    'http.followRedirects': 'false',
    'log.showSignature': 'false',
    // Only signatures of ssh are asked for; no other program is to run for one.
    'gpg.program': '/bin/false',
    'gpg.x509.program': '/bin/false',
    ...(login === undefined || access.scheme !== 'https'
      ? {}
      : { [`http.${new URL(url).origin}/.extraHeader`]: `Authorization: Basic ${login}` }),
    ...(caFile === undefined ? {} : { 'http.sslCAInfo': caFile }),
    ...(allowedSignersFile === undefined ? {} : { 'gpg.ssh.allowedSignersFile': allowedSignersFile }),
  }
}

/** git hands this to a shell, so that names of files are quoted. */
function sshCommandOf({ sshKeyFile, knownHostsFile }: GitAccess): string {
  return [
    'ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=15',
    ...(knownHostsFile === undefined ? [] : [`-o UserKnownHostsFile=${quoted(knownHostsFile)}`]),
    ...(sshKeyFile === undefined ? [] : [`-o IdentitiesOnly=yes -i ${quoted(sshKeyFile)}`]),
  ].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
