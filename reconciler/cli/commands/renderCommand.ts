import { visible } from '../../../api/contract/visibleText.ts'
import { manifestText } from '../../export/manifestText.ts'
import { formatProblem } from '../../manifest/manifestProblem.ts'
import { withoutReferences } from '../../manifest/values/variables.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { EXIT } from '../../run/exitCode.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { loadManifests, missingPath } from '../session/manifests.ts'

/** Prints manifests with Defaults, patches and variables applied; secrets remain references. */
export async function renderCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output } = context
  const { exists, set } = await loadManifests(path, context, 'optional')
  if (!exists) throw missingPath(path)
  for (const problem of set.problems) output.notice(formatProblem(problem))
  const rendered = set.services.map(({ manifest, file }) => ({
    file,
    // All variables are replaced: a text that still looks like a reference is escaped.
    manifest: { ...manifest, spec: withoutReferences(manifest.spec) },
  }))
  for (const { manifest, file } of rendered) {
    output.result(`---\n# ${visible(file)}\n${manifestText(manifest).trimEnd()}`)
  }
  return {
    exitCode: set.problems.length === 0 ? EXIT.converged : EXIT.manifestsInvalid,
    document: {
      problems: set.problems.map(problemDocument),
      manifests: rendered.map(({ manifest }) => manifest),
    },
  }
}
