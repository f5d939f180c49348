import { dirname } from 'node:path'
import type { GitAccess } from './gitAccess.ts'
import { loginOf } from './gitAccess.ts'
import type { GitCall } from './gitCall.ts'
import { shellQuoted } from './shellQuoted.ts'

/** Variables that git and ssh need; the last three on Windows. */
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
/** Variables for the location of user settings besides HOME. */
const SETTINGS_PASSED_ON = ['XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM']
/** Disables all settings except those of the repository. */
const NO_SETTINGS = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
/** File descriptor on which git writes a line for each packet of its protocol: a long list would displace stderr. */
export const PACKETS_FD = 3
const PACKETS_SHOWN = { GIT_TRACE_PACKET: String(PACKETS_FD) }
/** Speed and time from which a transfer over https counts as stalled (bytes per second, seconds). */
const STALLED_BYTES_PER_SECOND = 100
const STALLED_SECONDS = 60

/** Size from which files are streamed (MiB); no manifest is as large. */
const LARGE_FILE_MIB = 32
/** Maximum of memory in one allocation of git (MiB), against packs of a few kilobytes that expand to gigabytes. */
const ALLOCATED_MIB_MAX = 256

/** Harmless defects that old programs have left in histories. */
const HARMLESS = Object.fromEntries(
  ['zeroPaddedFilemode', 'badTimezone', 'missingSpaceBeforeDate'].map((fault) => [
    `fetch.fsck.${fault}`,
    'ignore',
  ]),
)

/**
 * The complete environment of git. Settings of the machine and the user are ignored unless `usersSettings` is set; hooks,
 * helpers, filters and prompts are disabled; transferred objects are verified before they are stored.
 */
export function environmentOf(
  call: Pick<GitCall, 'access' | 'directory' | 'env' | 'keyRing' | 'protocolOnly' | 'usersSettings'>,
): Record<string, string> {
  const { access, directory, env, keyRing, protocolOnly = false, usersSettings = false } = call
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
    // In place of a damaged repository of ours, git would use, and change, a checkout that contains its folder.
    ...(usersSettings ? {} : { ...NO_SETTINGS, GIT_CEILING_DIRECTORIES: dirname(directory) }),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: access.scheme,
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ALLOC_LIMIT: `${ALLOCATED_MIB_MAX}m`,
    GIT_SSH_COMMAND: sshCommandOf(access),
    ...(keyRing === undefined ? {} : { GNUPGHOME: keyRing }),
    ...(protocolOnly ? PACKETS_SHOWN : {}),
    // Not in the arguments, which every user of the machine can read.
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
    // A transfer is kept as one pack, whose size is limited, and its large files are never loaded completely.
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
    // Signatures must not run other programs than those of the accepted kinds.
    'gpg.program': gpgKeysFile === undefined ? '/bin/false' : 'gpg',
    'gpg.x509.program': '/bin/false',
    ...(login === undefined || access.scheme !== 'https'
      ? {}
      : { [`http.${new URL(url).origin}/.extraHeader`]: `Authorization: Basic ${login}` }),
    ...(caFile === undefined ? {} : { 'http.sslCAInfo': caFile }),
    ...(allowedSignersFile === undefined ? {} : { 'gpg.ssh.allowedSignersFile': allowedSignersFile }),
  }
}

/** File names are quoted, because git passes the command to a shell. */
function sshCommandOf({ sshKeyFile, knownHostsFile }: GitAccess): string {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    'ConnectTimeout=15',
    // Detects an unreachable host within a minute.
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
    // No forwarding to the host, and no process that outlives the command.
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
          `-o ${shellQuoted(`UserKnownHostsFile=${sshPath(knownHostsFile)}`)}`,
          '-o GlobalKnownHostsFile=/dev/null',
        ]),
    ...(sshKeyFile === undefined
      ? []
      : ['-o IdentitiesOnly=yes', `-o ${shellQuoted(`IdentityFile=${sshPath(sshKeyFile)}`)}`]),
  ].join(' ')
}

/** Escaped for ssh, which splits at blanks and expands percent signs. */
function sshPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`
}
