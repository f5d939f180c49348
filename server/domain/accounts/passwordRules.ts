/** Minimum and maximum length of a password (code points). */
export const PASSWORD_CHARS_MIN = 12
export const PASSWORD_CHARS_MAX = 256

/**
 * Minimum length of the local part of an address that a password must not contain (characters). Many passwords contain
 * a given pair of letters.
 */
const LOCAL_PART_CHARS_MIN = 3

/** The form of a password that is hashed, which is the same when the text is typed on another device. Pure. */
export function normalPassword(password: string): string {
  return password.normalize('NFKC')
}

/** The problem of a new password; `undefined` when there is none. Pure. */
export function passwordProblem(password: string, email: string): string | undefined {
  const text = normalPassword(password)
  const { length } = [...text]
  if (length < PASSWORD_CHARS_MIN) return `must have at least ${PASSWORD_CHARS_MIN} characters`
  if (length > PASSWORD_CHARS_MAX) return `must have at most ${PASSWORD_CHARS_MAX} characters`
  const folded = text.toLowerCase()
  const localPart = normalPassword(email.split('@')[0] ?? '').toLowerCase()
  if (localPart.length >= LOCAL_PART_CHARS_MIN && folded.includes(localPart)) {
    return 'must not contain your e-mail address'
  }
  return isRepetition(folded) ? 'must not be a repetition of the same characters' : undefined
}

/**
 * Whether `text` is a repeated run of characters. It then occurs in its own double before the end of the first copy.
 */
function isRepetition(text: string): boolean {
  return `${text}${text}`.indexOf(text, 1) < text.length
}
