/**
 * The URL that `text` says, from `base` where it is relative; `undefined` when it says none. Pure.
 *
 * URL.canParse of Node 20 is no substitute: once it was called often enough to be compiled, it refuses every text with
 * letters such as ü.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
