import type { GitAccess } from './gitAccess.ts'
import { loginOf } from './gitAccess.ts'
import type { GitCall } from './gitCall.ts'

/** Variables that git and ssh need to work at all; the last three on Windows. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'SSH_AUTH_SOCK',
  'HTTPS_PROXY',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
  'SystemRoot',
  'USERPROFILE',
  'TEMP',
]
/** Variables that say where the settings of a user are, beside HOME. */
const SETTINGS_PASSED_ON = ['XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM']
/** Leave out every file of settings that is not the repository's. */
const NO_SETTINGS = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
/** A transfer over https that is slower than this for so long has stalled (bytes a second, seconds). */
const STALLED_BYTES_PER_SECOND = 100
const STALLED_SECONDS = 60

/** Files beyond this are passed through piece by piece (MiB): no manifest is as large. */
const LARGE_FILE_MIB = 32
/** Most memory that git may ask for at once (MiB): a few kilobytes can be packed such that they unfold to gigabytes. */
const ALLOCATED_MIB_MAX = 256

/** Harmless faults that old programs left in many a history. */
const HARMLESS = Object.fromEntries(
  ['zeroPaddedFilemode', 'badTimezone', 'missingSpaceBeforeDate'].map((fault) => [
    `fetch.fsck.${fault}`,
    'ignore',
  ]),
)

/**
 * The whole environment of git. No file of the machine or of a user configures it, unless `usersSettings` says so; no
 * hook, helper, filter or prompt runs; and what goes over the wire is checked before it is stored.
 */
export function environmentOf({
  access,
  env,
  keyRing,
  usersSettings = false,
}: Pick<GitCall, 'access' | 'env' | 'keyRing' | 'usersSettings'>): Record<string, string> {
  const settings = Object.entries(configurationOf(access))
  const passed = [...PASSED_ON, ...(usersSettings ? SETTINGS_PASSED_ON : [])].flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    ...(usersSettings ? {} : NO_SETTINGS),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: access.scheme,
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ALLOC_LIMIT: `${ALLOCATED_MIB_MAX}m`,
    GIT_SSH_COMMAND: sshCommandOf(access),
    ...(keyRing === undefined ? {} : { GNUPGHOME: keyRing }),
    // In the environment rather than in the arguments, which every user of the machine can read.
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
  const { caFile, allowedSignersFile, gpgKeysFile, url } = access
  const login = loginOf(access)
  return {
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.symlinks': 'false',
    'core.attributesFile': '/dev/null',
    'credential.helper': '',
    // What comes is kept as one pack, whose size is limited, and large files in it never are in memory as a whole.
    'fetch.unpackLimit': '1',
    'core.bigFileThreshold': `${LARGE_FILE_MIB}m`,
    'fetch.fsckObjects': 'true',
    'transfer.fsckObjects': 'true',
    ...HARMLESS,
    'fetch.recurseSubmodules': 'false',
    'submodule.recurse': 'false',
    'gc.autoDetach': 'false',
    'maintenance.autoDetach': 'false',
    'http.followRedirects': 'false',
    'http.lowSpeedLimit': String(STALLED_BYTES_PER_SECOND),
    'http.lowSpeedTime': String(STALLED_SECONDS),
    'log.showSignature': 'false',
    // No other program is to run for a signature than those of the kinds that count.
    'gpg.program': gpgKeysFile === undefined ? '/bin/false' : 'gpg',
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
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    'ConnectTimeout=15',
    // A host that went away without a word is noticed within a minute.
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
    // The host gets nothing of this machine, and leaves nothing behind that still runs.
    'ForwardAgent=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'ControlMaster=no',
    'ControlPath=none',
  ]
  return [
    'ssh',
    ...options.map((option) => `-o ${option}`),
    ...(knownHostsFile === undefined
      ? []
      : [
          `-o ${quoted(`UserKnownHostsFile=${sshPath(knownHostsFile)}`)}`,
          '-o GlobalKnownHostsFile=/dev/null',
        ]),
    ...(sshKeyFile === undefined
      ? []
      : ['-o IdentitiesOnly=yes', `-o ${quoted(`IdentityFile=${sshPath(sshKeyFile)}`)}`]),
  ].join(' ')
}

/** As ssh reads it: it would split at blanks, and take what follows a percent sign for a name of its own. */
function sshPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
