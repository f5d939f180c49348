/** Maximum length of an address (characters, RFC 5321). */
const EMAIL_CHARS_MAX = 254
/** One @ between two parts without spaces or control characters. Only a message could verify more. */
const EMAIL = /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u

/** The problem of an e-mail address; `undefined` when there is none. Pure. */
export function emailProblem(email: string): string | undefined {
  if (email.length > EMAIL_CHARS_MAX) return `must have at most ${EMAIL_CHARS_MAX} characters`
  return EMAIL.test(email) ? undefined : 'must be an e-mail address such as ada@example.org'
}

/** The form in which addresses are compared, without differences of case and of compatibility characters. Pure. */
export function foldedEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase()
}
