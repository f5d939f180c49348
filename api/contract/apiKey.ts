/** Literal start of every API key, long enough for secret scanners to find. Contract: Authentication, rule 2. */
export const API_KEY_PREFIX = 'pharos_'

const API_KEY = /^pharos_[0-9a-fA-F]{64}$/

/** Whether `text` has the form of an API key. Says nothing of whether the key exists. Pure. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text)
}
