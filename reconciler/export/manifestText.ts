import { dump } from 'js-yaml'

/** `manifest` as YAML. Ambiguous scalars are quoted. Pure. */
export function manifestText(manifest: object): string {
  return dump(manifest, { lineWidth: 110, noRefs: true })
}
