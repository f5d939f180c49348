import { formatPath, problemsOf } from '../../api/contract/problem.ts'
import { exportKeys, variableNames } from '../export/exportService.ts'
import { compileService } from '../manifest/compile/compileService.ts'
import { serviceManifestSchema } from '../manifest/schema/serviceManifest.ts'
import { fromBlackbox } from './blackbox.ts'
import { fromCheckly } from './checkly.ts'
import type { ImportFormat } from './formats.ts'
import { fromGatus } from './gatus.ts'
import { manifestOf, type ReadServices } from './importedService.ts'
import { fromOpenApi } from './openApi.ts'
import { type ImportNote, readSource, type SourceFile, type SourceValue } from './sourceValue.ts'
import { fromTerraform } from './terraform.ts'
import { fromUptimeKuma } from './uptimeKuma.ts'
import { fromUptimeRobot } from './uptimeRobot.ts'

const READERS = {
  gatus: fromGatus,
  blackbox: fromBlackbox,
  'uptime-kuma': fromUptimeKuma,
  uptimerobot: fromUptimeRobot,
  checkly: fromCheckly,
  openapi: fromOpenApi,
  terraform: fromTerraform,
} as const satisfies Readonly<Record<ImportFormat, ReadServices>>

/** Notes a configuration inside a Kubernetes ConfigMap, whose lines are not those of the file. */
function noteConfigMap(document: SourceValue): void {
  if (document.get('kind').text() !== 'ConfigMap') return
  for (const [key, value] of document.get('data').entries()) {
    value.note(`left out: write ${key} of the ConfigMap into a file of its own, and import that`)
  }
}

/** Why `pharos validate` would refuse a manifest. Pure. */
function problemOf(manifest: object): string | undefined {
  const { data, error } = serviceManifestSchema.safeParse(manifest)
  const [problem] =
    data === undefined
      ? problemsOf(error)
      : compileService(data, () => ({ input: { value: 'secret', sensitive: true } })).problems
  return problem === undefined ? undefined : `${formatPath(problem.path)} ${problem.message}`
}

/** Reads the configuration of another tool: manifests by name, and notes by place. Throws UnreadableSource. Pure. */
export function importFiles(
  format: ImportFormat,
  files: readonly SourceFile[],
  regions: readonly string[],
): {
  readonly manifests: readonly { readonly key: string; readonly manifest: object }[]
  readonly notes: readonly ImportNote[]
} {
  const notes: ImportNote[] = []
  const documents = files.flatMap((source) => {
    const read = readSource(source, notes)
    if (read.length === 0) {
      notes.push({ file: source.file, line: 1, column: 1, message: 'left out: the file is empty' })
    }
    return read
  })
  for (const document of documents) noteConfigMap(document)
  const services = READERS[format](documents, variableNames())
  if (services.length + notes.length === 0) {
    for (const document of documents)
      document.note(`left out: no checks of ${format} found: check the format and the file`)
  }
  const keys = exportKeys(services.map(({ name }) => name))
  const manifests = services.flatMap((service, index) => {
    const key = keys[index] ?? service.name
    const manifest = manifestOf(service, key, regions)
    const problem = problemOf(manifest)
    if (problem === undefined) return [{ key, manifest }]
    service.place.note(`${service.name} is left out: ${problem}`)
    return []
  })
  return { manifests: manifests.sort((a, b) => (a.key < b.key ? -1 : 1)), notes: inOrder(notes, files) }
}

/** Notes by their places, each once: a part that several services share is noted by each. Pure. */
function inOrder(notes: readonly ImportNote[], files: readonly SourceFile[]): readonly ImportNote[] {
  const fileNumber = ({ file }: ImportNote) => files.findIndex((one) => one.file === file)
  const distinct = new Map(notes.map((note) => [Object.values(note).join('\0'), note]))
  return [...distinct.values()].sort(
    (a, b) => fileNumber(a) - fileNumber(b) || a.line - b.line || a.column - b.column,
  )
}
