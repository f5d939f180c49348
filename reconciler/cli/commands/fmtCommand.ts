import { visible } from '../../../api/contract/visibleText.ts'
import { formattedManifest } from '../../manifest/edit/format.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { exitCodeOf } from '../../run/exitCode.ts'
import { readManifests } from '../../source/manifestFiles.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { missingPath } from '../session/manifests.ts'
import { writeOutput } from '../session/outputFile.ts'

/** Formats manifests; with --check only lists those that are not formatted. */
export async function fmtCommand(path: string, { output, options }: CommandContext): Promise<CommandResult> {
  const { exists, documents, problems, files } = readManifests(path, (done, total) =>
    output.progress(`read ${done} of ${total} files`),
  )
  if (!exists) throw missingPath(path)
  const isCheck = options.check === true
  output.problems(problems)
  const changed: string[] = []
  const readable = documents.filter(({ isHidden }) => isHidden !== true)
  for (const { file, text } of new Set(readable.map(({ source }) => source))) {
    const formatted = formattedManifest(text)
    if (formatted === undefined || formatted === text) continue
    changed.push(file)
    if (!isCheck) writeOutput(file, formatted)
    output.result(`${isCheck ? 'not formatted' : 'formatted'}: ${visible(file)}`)
  }
  if (changed.length === 0 && problems.length === 0)
    output.result(`already formatted: ${counted(files, 'file')}`)
  const exitCode = exitCodeOf({
    manifestsInvalid: problems.length > 0,
    changesPending: isCheck && changed.length > 0,
  })
  return { exitCode, document: { problems: problems.map(problemDocument), changed, files } }
}
