import type { GitAccess } from './gitAccess.ts'
import { loginOf } from './gitAccess.ts'

/** Longest start and end of a message of git in an error (characters): ssh prints the banner of the host first. */
const START_CHARS_MAX = 150
const END_CHARS_MAX = 350

/** The message about a web page in place of a repository. */
export const NOT_FROM_GIT =
  'the response did not come from git but, for example, from a login page: check the address, the credential and any proxy'

/** Advice for messages of git and ssh. The first match is used. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'the key of the host has changed: ask its operator why before you correct the known hosts',
  ],
  [
    /host key is known|Host key verification failed/,
    'the key of the host is unknown: add the key that its operator publishes to the known hosts',
  ],
  [/Load key .*: |no such identity|UNPROTECTED PRIVATE KEY/, 'the SSH key cannot be used: check its file'],
  [
    /Permission denied \(|Too many authentication failures/,
    'the host refused the SSH key, or the key has a passphrase: use one that the host accepts, without a passphrase or in an agent',
  ],
  [
    /could not read (?:Username|Password)|Authentication failed|returned error: 40[13]/i,
    'the repository refused the credential, or requires one',
  ],
  [
    /Problem with the SSL CA cert/,
    'the file of CA certificates cannot be read: check its path and its content',
  ],
  [
    /certificate/i,
    'the certificate of the host is not trusted, has expired or belongs to another host: check it, or add its CA certificate',
  ],
  [
    /returned error: 3\d\d|redirect/i,
    'the address redirects to another one, which is not followed: use that one',
  ],
  [
    /fsck error|error: object [0-9a-f]{40,64}: \w+/,
    'git refuses an object of the repository, which is malformed or malicious: remove it from the history',
  ],
  [
    /dubious ownership/,
    'the repository on this machine belongs to another user: change its owner to the user of this program, or serve it over ssh or https',
  ],
  [
    /attempting to allocate \d+ over limit/,
    'the history contains an object that is too large: remove it from the history',
  ],
  [/No space left on device|Disk quota exceeded/, 'the disk is full: free some space, then run this again'],
  [
    /does not appear to be a git repository|repository '.*' not found|Repository not found/,
    'there is no repository at the address, or this user has no access to it: correct the address',
  ],
  [
    // A ref that did move is recognised before, so another one of that name takes the push.
    /matches more than one|\(stale info\)/,
    'a branch or a tag of the repository has the complete name of this ref: rename it, or name another ref',
  ],
  [
    /exists; cannot create/,
    'the repository has a ref whose name is the beginning of this one, or begins with it: name another ref',
  ],
  [
    /funny ref|hidden ref/,
    'the host accepts no ref of this name: name one such as refs/pharos/NAME or a branch',
  ],
  [
    /hook declined|protected branch/,
    'the host refused the push: allow it for this account, or name another ref',
  ],
  [/info\/refs not valid|bad line length character/, NOT_FROM_GIT],
  [/mismatched algorithms/, 'the repository uses SHA-256, which is not supported'],
  [/Operation too slow|timed out|Timeout, server/i, 'the host does not respond'],
]

/**
 * The message of git in one line, with advice in front if known, and without the credential in any form in which a host may
 * have returned it. Pure.
 */
export function failureText(stderr: string, access: GitAccess): string {
  const clean = withoutSecrets(stderr, access)
  const advice = ADVICE.find(([pattern]) => pattern.test(clean))?.[1]
  const text = shortened(
    withoutNoise(clean)
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim(),
  )
  return advice === undefined ? text : `${advice} (${text})`
}

function shortened(text: string): string {
  if (text.length <= START_CHARS_MAX + END_CHARS_MAX) return text
  return `${text.slice(0, START_CHARS_MAX)} … ${text.slice(-END_CHARS_MAX)}`
}

function withoutSecrets(stderr: string, access: GitAccess): string {
  const { credential } = access
  const forms = [credential?.password, loginOf(access)].flatMap((secret) =>
    secret === undefined || secret === '' ? [] : [secret, encodeURIComponent(secret)],
  )
  return forms.reduce((text, secret) => text.replaceAll(secret, '…'), stderr)
}

/** Removes frames, farewells and advice to interactive users from the output of ssh and git. */
function withoutNoise(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !NOISE.test(line))
  return lines.join('\n')
}

const NOISE =
  /^(?:@+.*|To \S+|error: failed to push some refs to .*|IT IS POSSIBLE THAT .*|Someone could be .*|It is also possible .*|Please .*|and the repository exists\.|Add correct host key .*|\s+(?:remove with:|ssh-keygen ).*|Connection closed by .*|\s*)$/
