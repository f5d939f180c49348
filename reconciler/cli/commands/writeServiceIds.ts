import type { Document } from '../../manifest/compile/document.ts'
import { classifyDocuments } from '../../manifest/compile/documentKind.ts'
import { withServiceId } from '../../manifest/edit/identityText.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import type { Binding } from '../../plan/binding.ts'
import { readManifests } from '../../source/manifestFiles.ts'
import { writeOutput } from '../session/outputFile.ts'

/** A manifest without `metadata.id`, and the id for it. */
export interface WrittenId {
  readonly file: string
  readonly key: string
  readonly id: string
  /** Whether the id can be inserted without another change of the file. */
  readonly isWritten: boolean
}

/**
 * Inserts the ids of `bindings` into their manifests below `path` that have none, and changes no other byte. Each file is
 * replaced atomically. `isDry` writes nothing.
 */
export function writeServiceIds(
  path: string,
  bindings: readonly Pick<Binding, 'key' | 'serviceId'>[],
  { isDry }: { readonly isDry: boolean },
): readonly WrittenId[] {
  const ids = new Map(bindings.map(({ key, serviceId }) => [key, serviceId]))
  const texts = new Map<string, string>()
  const written: WrittenId[] = []
  for (const document of classifyDocuments(readManifests(path).documents).services) {
    const key = keyWithoutId(document)
    const id = key === undefined ? undefined : ids.get(key)
    if (key === undefined || id === undefined) continue
    const { file, text } = document.source
    const spliced = withServiceId(texts.get(file) ?? text, document.index, id)
    if (spliced !== undefined) texts.set(file, spliced)
    written.push({ file, key, id, isWritten: spliced !== undefined })
  }
  if (!isDry) for (const [file, text] of texts) writeOutput(file, text)
  return written
}

function keyWithoutId({ mapping }: Document): string | undefined {
  const { name, id } = mappingOf(mapping.metadata) ?? {}
  return typeof name === 'string' && id === undefined ? name : undefined
}
