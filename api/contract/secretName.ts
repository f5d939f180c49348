/** Words of names that hold secrets; `author` is none. */
const SECRET_NAME = /auth(?!or(?!i))|cookie|token|secret|passw|api.?key|credential|session|signature/i
/** Last words of names that hold secrets. */
const SECRET_ENDING = /(?:^|[-_.])(?:key|sig|pwd|jwt)$/i
/** Names with such an ending that hold none. */
const HARMLESS = /^(?:idempotency|surrogate|cache)-key$/i

/** Whether the name of a header or of a parameter suggests that its value is a secret. Pure. */
export function suggestsSecret(name: string): boolean {
  return SECRET_NAME.test(name) || (SECRET_ENDING.test(name) && !HARMLESS.test(name))
}
