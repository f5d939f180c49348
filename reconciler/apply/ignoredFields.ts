import { formatPointer } from '../../api/contract/problem.ts'
import { fieldPath } from '../text/fieldText.ts'

/**
 * Tells of a pointer into the canonical service whether one of `ignore`, pointers into the manifest, names it
 * or something that it is part of. Names of headers match in any case. Pure.
 */
export function ignoredBy(ignore: readonly string[]): (pointer: string) => boolean {
  if (ignore.length === 0) return () => false
  const ignored = ignore.map((pointer) => `${pointer.toLowerCase()}/`)
  return (pointer) => {
    const inManifest = `${formatPointer(['spec', ...fieldPath(pointer)]).toLowerCase()}/`
    return ignored.some((prefix) => inManifest.startsWith(prefix))
  }
}
