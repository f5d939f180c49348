import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { visible } from '../../../api/contract/visibleText.ts'
import { variablesOf } from '../../export/exportService.ts'
import { manifestText } from '../../export/manifestText.ts'
import { IMPORT_FORMATS, type ImportFormat } from '../../import/formats.ts'
import { importFiles } from '../../import/importFiles.ts'
import type { SourceFile } from '../../import/sourceValue.ts'
import { monitorsOf } from '../../import/uptimeKumaDatabase.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { fileReason } from '../../../api/runtime/fileReason.ts'
import { loadConstructor } from '../../state/sqlite/openDatabase.ts'
import { counted } from '../../text/counts.ts'
import type { Command } from '../session/commandEntry.ts'
import { writeManifests } from '../session/manifestFiles.ts'

const REGION = 'eu-west-1'
/** Largest file that is read (MiB). Its values and their places take up to seventy times as much memory. */
const FILE_MIB_MAX = 16
/** The start of SQLite files. */
const SQLITE_MAGIC = 'SQLite format 3\0'

/**
 * Converts the configuration of another tool to manifests, and reports at file:line:column what could not be converted.
 * Exits with 3 when something was left out.
 */
export const importCommand: Command = async ([format = '', ...files], { output, options }) => {
  const regions = (options.region ?? REGION).split(',').map((region) => region.trim())
  const { manifests, notes } = importFiles(formatOf(format), await Promise.all(files.map(readFile)), regions)
  const folder = options.write
  if (folder !== undefined) {
    writeManifests(folder, manifests)
    output.result(`wrote ${counted(manifests.length, 'manifest')} to ${visible(folder)}`)
  } else {
    for (const { manifest } of manifests) output.result(`---\n${manifestText(manifest).trimEnd()}`)
  }
  for (const { file, line, column, message } of notes) {
    output.notice(`${visible(file)}:${line}:${column}: ${visible(message)}`)
  }
  const variables = variablesOf(manifests.map(({ manifest }) => manifest))
  if (variables.length > 0) output.notice(`set these before "pharos plan": ${variables.join(', ')}`)
  return {
    exitCode: notes.some(({ message }) => message.includes('left out')) ? EXIT.partial : EXIT.converged,
    document: { manifests, notes, variables },
  }
}

function formatOf(text: string): ImportFormat {
  const format = IMPORT_FORMATS.find((one) => one === text)
  if (format === undefined) throw new UsageError(`the format is ${IMPORT_FORMATS.join(', ')}, not ${text}`)
  return format
}

async function readFile(file: string): Promise<SourceFile> {
  const bytes = bytesOf(file)
  // Databases hold a history of any size.
  if (bytes === 'database') return { file, text: await rowsOf(file) }
  if (bytes === 'too-large')
    throw new UsageError(
      `${file} is larger than ${FILE_MIB_MAX} MiB: remove what is not to be imported, or split it`,
    )
  if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8: convert it first`)
  return { file, text: bytes.toString('utf8') }
}

/** The content of a file, which may be a pipe: it is read only once. Throws UsageError. */
function bytesOf(file: string): Buffer | 'database' | 'too-large' {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const start = Buffer.alloc(SQLITE_MAGIC.length)
    const length = readSync(descriptor, start)
    if (start.toString('latin1') === SQLITE_MAGIC) return 'database'
    const isTooLarge = (bytes: number): boolean => bytes > FILE_MIB_MAX * 1_024 * 1_024
    if (isTooLarge(fstatSync(descriptor).size)) return 'too-large'
    const bytes = Buffer.concat([start.subarray(0, length), readFileSync(descriptor)])
    return isTooLarge(bytes.length) ? 'too-large' : bytes
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${fileReason(error)}`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The monitors of a database of Uptime Kuma. */
async function rowsOf(file: string): Promise<string> {
  const Sqlite = await loadConstructor()
  try {
    const database = new Sqlite(file, { readonly: true, fileMustExist: true })
    try {
      return monitorsOf(database)
    } finally {
      database.close()
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    // SQLite needs files beside a database that another process may be writing.
    const hint = message.includes('readonly') ? ': copy it to a folder that is writable' : ''
    throw new UsageError(`${file} cannot be read as a database of Uptime Kuma: ${message}${hint}`)
  }
}
