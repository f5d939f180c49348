/** Prefix of every API key that our server mints, long enough for secret scanners. Contract: Authentication, rule 2. */
export const API_KEY_PREFIX = 'pharos_'

/** The document names no prefix: it is any text that ends in an underscore and fits into a header. */
const API_KEY = /^[\x21-\x7e]{0,191}_[0-9a-fA-F]{64}$/

/** Whether `text` has the form of an API key, of any server. Says nothing of whether the key exists. Pure. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text)
}

/** `text` without the API keys in it, of any server. Pure. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(/[\w.~+/-]*_[0-9a-fA-F]{64}/g, '…')
}
