import { buildPlan, guardOrg } from '../../apply/buildPlan.ts'
import type { PlanResult } from '../../apply/planResult.ts'
import { runProblems } from '../../apply/runProblems.ts'
import { planDocument } from '../../render/planDocument.ts'
import { planMarkdown } from '../../render/planMarkdown.ts'
import { planLines } from '../../render/planText.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { runExitCode } from '../../run/exitCode.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import type { LoadedManifests } from '../session/manifests.ts'
import { planDigestIn } from '../session/planReview.ts'
import { withScene } from '../session/scene.ts'
import { openSession } from '../session/session.ts'

/** Shows what an apply would do. Two requests, three when regions would be sent; no write. */
export async function planCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options } = context
  const secrets = options.withoutSecrets === true ? 'optional' : 'required'
  const wish = { secrets, regions: 'looked-up', open: openSession } as const
  return withScene(path, context, wish, async (open) => {
    const { loaded, session, scene } = open
    const org = await guardOrg(scene)
    const found = await buildPlan(scene)
    const situation = { ...found, planDigest: await planDigestIn(found, org, open) }
    const { set } = loaded
    if (secrets === 'optional')
      output.notice('a secret that is not available here is taken for unchanged; apply needs all of them')
    output.problems([...set.problems, ...set.warnings])
    const runtime = runProblems(situation.braked.changes, [], situation.declared)
    output.annotations(runtime)
    for (const warning of situation.warnings) output.notice(warning)
    for (const line of planLines(situation, output.paint, set.problems)) output.result(line)
    return {
      exitCode: planExitCode(situation, loaded, options.detailedExitcode === true),
      // Only what the format shows is worked out: for 10,000 services each takes its time.
      get document() {
        return {
          problems: set.problems.map(problemDocument),
          warnings: set.warnings.map(problemDocument),
          ...planDocument(situation),
          requests: session.requests(),
        }
      },
      problems: [...set.problems, ...set.warnings, ...runtime],
      planDigest: situation.planDigest,
      get markdown() {
        return planMarkdown(situation, [...set.problems, ...set.warnings])
      },
    }
  })
}

function planExitCode(situation: PlanResult, { set }: LoadedManifests, isDetailed: boolean): number {
  const { changes, tripped } = situation.braked
  return runExitCode({
    purpose: 'look',
    problems: set.problems,
    usableManifests: set.services.length,
    tripped,
    blocked: changes.filter((change) => change.kind === 'blocked'),
    hasChanges:
      isDetailed && changes.some((change) => change.kind !== 'drifted' && change.kind !== 'blocked'),
  })
}
