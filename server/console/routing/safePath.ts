/**
 * A path of this console: without characters that a browser reads as another host or as control characters, and without
 * empty or dot segments, which would change the path.
 */
const PATH = /^(?![^?]*\/[/.])\/[\w\-./?=&%:~+,@]*$/

/** `text` as a path to redirect to after sign-in; `/` when it is not a path of this console. Pure. */
export function safePath(text: string | null | undefined): string {
  return text !== null && text !== undefined && PATH.test(text) ? text : '/'
}
