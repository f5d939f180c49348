import { formatPointer } from '../../api/contract/problem.ts'
import { fieldPath } from '../text/fieldText.ts'

/**
 * Returns a predicate for pointers into the canonical service: whether one of `ignore`, pointers into the manifest, covers
 * the field. Names of headers are case-insensitive. Pure.
 */
export function ignoredBy(ignore: readonly string[]): (pointer: string) => boolean {
  if (ignore.length === 0) return () => false
  const ignored = ignore.map((pointer) => `${pointer.toLowerCase()}/`)
  return (pointer) => {
    const inManifest = `${formatPointer(['spec', ...fieldPath(pointer)]).toLowerCase()}/`
    return ignored.some((prefix) => inManifest.startsWith(prefix))
  }
}
