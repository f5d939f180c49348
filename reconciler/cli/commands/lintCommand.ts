import { lint } from '../../lint/lintRules.ts'
import { LINT_FILE, readLintRules } from '../../lint/lintSettings.ts'
import { type ManifestProblem, sortedProblems } from '../../manifest/manifestProblem.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { exitCodeOf } from '../../run/exitCode.ts'
import { counted } from '../../text/counts.ts'
import { pathFrom } from '../../text/pathFrom.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { loadManifests, missingPath, noticeEmpty } from '../session/manifests.ts'
import { selectionOf } from '../session/selection.ts'

/** Checks manifests against rules, without network and without secrets. */
export async function lintCommand(paths: readonly string[], context: CommandContext): Promise<CommandResult> {
  const { output, options } = context
  const findings: ManifestProblem[] = []
  const problems: ManifestProblem[] = []
  const ruleFiles = new Set<string | undefined>()
  let services = 0
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const { exists, set } = await loadManifests(path, context, 'optional')
    if (!exists) throw missingPath(path)
    noticeEmpty(set, path, output)
    const isSelected = selectionOf(options, set, []) ?? (() => true)
    const selected = set.services.filter(({ key }) => isSelected(key))
    services += selected.length
    problems.push(...set.problems)
    const { settings, file } = readLintRules(path, options.config)
    ruleFiles.add(file)
    findings.push(...lint(selected, settings))
  }
  const found = sortedProblems([...problems, ...findings])
  output.problems(found)
  const what = counted(services, 'service')
  output.result(
    found.length === 0
      ? output.paint.green(`no finding in ${what}`)
      : `${counted(findings.length, 'finding')} in ${what}; ${placeOfRules(ruleFiles)}`,
  )
  return {
    exitCode: exitCodeOf({ manifestsInvalid: problems.length > 0, changesPending: findings.length > 0 }),
    document: {
      problems: problems.map(problemDocument),
      findings: sortedProblems(findings).map(problemDocument),
      services,
    },
    problems: found,
  }
}

/** Where the rules come from: `files` has an `undefined` for the default rules. */
function placeOfRules(files: ReadonlySet<string | undefined>): string {
  const named = [...files].flatMap((file) => (file === undefined ? [] : [pathFrom(process.cwd(), file)]))
  const places = named.length === 0 ? [] : [`rules are in ${named.join(', ')}`]
  const scope = named.length === 0 ? '' : ' to the other paths'
  const defaults = `the default rules apply${scope} (a file ${LINT_FILE} changes them)`
  return [...places, ...(files.has(undefined) ? [defaults] : [])].join('; ')
}
