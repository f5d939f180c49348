import { createHash } from 'node:crypto'

/**
 * The version for the hidden field `name` of a form: a form that is shown again keeps the version it was opened with, so
 * that a change meanwhile is noticed later too. Once the person has been told of the change, it has the current one. Pure.
 */
export function versionSeen(
  form: URLSearchParams,
  name: string,
  { current, isOutdated }: { readonly current: string; readonly isOutdated: boolean },
): string {
  return isOutdated ? current : (form.get(name) ?? current)
}

/** Version of a text, for a hidden field: a different version shows that the text has changed meanwhile. Pure. */
export function versionOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
