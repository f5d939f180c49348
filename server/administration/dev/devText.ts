import { shellQuoted } from '../text/shellQuoted.ts'
import { SAMPLE_INTERVAL_S } from './sampleService.ts'

/** A started `dev`; the JSON document of `dev --json`. */
export interface DevDocument {
  readonly url: string
  readonly apiKey: string
  readonly orgId: string
  /** The status page with the sample service. */
  readonly statusPageUrl: string
  /** Opens the console: an invitation for its owner, or the sign-in page. */
  readonly consoleUrl: string
  readonly sample: { readonly serviceId: string; readonly url: string }
  readonly dataDir: string
}

/**
 * `document` as text: addresses, lines to paste into a shell, and next steps. Pure.
 *
 * `pharosFile` is the program `pharos` beside this one: a checkout does not have it on the PATH.
 */
export function devText(document: DevDocument, isTemporary: boolean, pharosFile: string): string {
  const { url, apiKey, statusPageUrl, consoleUrl, sample, dataDir } = document
  const kept = isTemporary ? 'Ctrl-C stops it and removes all data' : `Ctrl-C stops it; ${dataDir} is kept`
  return `Pharos is running. ${kept}.

  API          ${url}
  status page  ${statusPageUrl}
  console      ${consoleUrl}
  sample       ${sample.url}/ (a service to break and repair, checked every ${SAMPLE_INTERVAL_S} s)

Paste into another terminal:

  export PHAROS_URL=${url}
  export PHAROS_API_KEY=${apiKey}
  alias pharos=${shellQuoted(`node ${shellQuoted(pharosFile)}`)}

Next:

  pharos init shop --target ${sample.url}/
  cd shop
  pharos test monitoring --allow-ranges 127.0.0.0/8
  pharos apply monitoring --state pharos.db

Break the sample, and repair it. The status page shows the outage within a minute, then the recovery:

  curl -X POST ${sample.url}/break
  curl -X POST ${sample.url}/repair`
}
