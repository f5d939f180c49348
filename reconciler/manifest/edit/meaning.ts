import { loadAll, YAMLException } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'

/** The values of the documents in `text`, to compare texts; `undefined` when it is not YAML. Pure. */
export function meaningOf(text: string): readonly unknown[] | undefined {
  try {
    return loadAll(text, { maxAliases: 0, maxDepth: MANIFEST_DEPTH_MAX })
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}
