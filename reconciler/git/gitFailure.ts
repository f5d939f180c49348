import type { GitAccess } from './gitAccess.ts'
import { loginOf } from './gitAccess.ts'

/** Longest text of git that is passed on (characters). */
const MESSAGE_CHARS_MAX = 500

/** What git and ssh say when something of ours is wrong, and what to do about it. The first that fits counts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'the host showed another key than the known one: ask its operator why, and only then correct the known hosts',
  ],
  [
    /host key is known|Host key verification failed/,
    'the key of the host is not known: put the one that its operator publishes into the known hosts',
  ],
  [/Load key .*: |no such identity|UNPROTECTED PRIVATE KEY/, 'the SSH key cannot be used: look at its file'],
  [
    /Permission denied \(|Too many authentication failures/,
    'the host refused the SSH key: give it one that it knows',
  ],
  [
    /could not read (?:Username|Password)|Authentication failed|returned error: 40[13]/i,
    'the repository refused the credential, or asks for one',
  ],
  [
    /certificate/i,
    'the certificate of the host is not trusted, has expired or is of another host: look at it, or name its issuer',
  ],
  [
    /returned error: 3\d\d|redirect/i,
    'the address leads to another one, which is not followed: name that one',
  ],
  [
    /fsck error|error: object [0-9a-f]{40,64}: \w+/,
    'git refuses an object of the repository, which is malformed or made to do harm: take it out of the history',
  ],
  [
    /dubious ownership/,
    'the repository on this machine belongs to another user, whose settings git does not heed: give it to the user of this program, or serve it over ssh or https',
  ],
  [
    /attempting to allocate \d+ over limit/,
    'the history has something in it that is too large to be read: take it out of the history',
  ],
  [/No space left on device|Disk quota exceeded/, 'the disk is full: make room, then run this again'],
  [
    /does not appear to be a git repository/,
    'there is no repository at the address, or this user may not see it: correct the address',
  ],
  [/mismatched algorithms/, 'the repository names its objects by SHA-256, which is not supported here'],
  [/Operation too slow|Operation timed out|Timeout, server/i, 'the host stopped answering'],
]

/**
 * What git said, in one line, with what to do about it in front where that is known, and without the credential
 * in any form in which a host may have sent it back. Pure.
 */
export function explained(said: string, access: GitAccess): string {
  const clean = withoutSecrets(said, access)
  const advice = ADVICE.find(([pattern]) => pattern.test(clean))?.[1]
  const text = tellingLines(clean)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_CHARS_MAX)
  return advice === undefined ? text : `${advice} (${text})`
}

function withoutSecrets(said: string, access: GitAccess): string {
  const { credential } = access
  const forms = [credential?.password, loginOf(access)].flatMap((secret) =>
    secret === undefined || secret === '' ? [] : [secret, encodeURIComponent(secret)],
  )
  return forms.reduce((text, secret) => text.replaceAll(secret, '…'), said)
}

/** Without the frames, the farewells and the advice to interactive users that ssh and git put around what they mean. */
function tellingLines(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !NOISE.test(line))
  return lines.join('\n')
}

const NOISE =
  /^(?:@+.*|IT IS POSSIBLE THAT .*|Someone could be .*|It is also possible .*|Please .*|and the repository exists\.|Add correct host key .*|\s+(?:remove with:|ssh-keygen ).*|Connection closed by .*|\s*)$/
