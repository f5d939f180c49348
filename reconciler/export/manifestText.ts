import { dump } from 'js-yaml'

/** `manifest` as YAML. What YAML could read as something else is quoted. Pure. */
export function manifestText(manifest: object): string {
  return dump(manifest, { lineWidth: 110, noRefs: true })
}
