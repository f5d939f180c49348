/**
 * Characters that a path in this console may have: none that a browser reads as another host or a control character. Its
 * parts are neither empty nor dots, which would make another path of it.
 */
const PATH = /^(?![^?]*\/[/.])\/[\w\-./?=&%:~+,@]*$/

/** `text` as a path to continue at after sign-in; `/` when it is not one of this console. Pure. */
export function safePath(text: string | null | undefined): string {
  return text !== null && text !== undefined && PATH.test(text) ? text : '/'
}
