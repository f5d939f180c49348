import { problemDocument } from '../../render/problemDocument.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { loadManifests, missingPath, noticeEmpty } from '../session/manifests.ts'

/** Checks manifests without network and without secrets. */
export async function validateCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output } = context
  const { exists, files, set } = await loadManifests(path, context, 'optional')
  if (!exists) throw missingPath(path)
  if (files === 0 && set.problems.length === 0)
    throw new UsageError(
      `there is no manifest at ${path}: manifests are files *.yaml and *.yml below a folder`,
    )
  output.problems([...set.problems, ...set.warnings])
  noticeEmpty(set, path, output)
  const isValid = set.problems.length === 0
  const services = set.services.length + set.frozenKeys.length
  const what = `${counted(services, 'service')} in ${counted(files, 'file')}`
  output.result(
    isValid ? output.paint.green(`valid: ${what}`) : `${counted(set.problems.length, 'problem')} in ${what}`,
  )
  return {
    exitCode: isValid ? EXIT.converged : EXIT.manifestsInvalid,
    document: {
      problems: set.problems.map(problemDocument),
      warnings: set.warnings.map(problemDocument),
      services,
      files,
    },
    problems: [...set.problems, ...set.warnings],
  }
}
