import { buildPlan, guardOrg } from '../../apply/buildPlan.ts'
import type { PlanResult } from '../../apply/planResult.ts'
import { runProblems } from '../../apply/runProblems.ts'
import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import { planDocument } from '../../render/planDocument.ts'
import { planMarkdown } from '../../render/planMarkdown.ts'
import { planLines } from '../../render/planText.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { runExitCode } from '../../run/exitCode.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { withPlanInput } from '../session/planInput.ts'
import { planDigestIn } from '../session/planReview.ts'
import { openSession } from '../session/session.ts'

/** Shows the plan of an apply. Two requests, three when regions would be sent; no write. */
export async function planCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options } = context
  const secrets = options.withoutSecrets === true ? 'optional' : 'required'
  const how = { secrets, regions: 'looked-up', open: openSession } as const
  return withPlanInput(path, context, how, async (input) => {
    const { set, requests } = input
    const org = await guardOrg(input)
    const found = await buildPlan(input)
    const planResult = { ...found, planDigest: await planDigestIn(found, org, input) }
    if (secrets === 'optional')
      output.notice('secrets that are not available here count as unchanged; apply needs all of them')
    output.problems([...set.problems, ...set.warnings])
    const runtime = runProblems(planResult.limited.changes, [], planResult.declared)
    output.annotations(runtime)
    for (const warning of planResult.warnings) output.notice(warning)
    for (const line of planLines(planResult, output.paint, set.problems)) output.result(line)
    return {
      exitCode: planExitCode(planResult, set, options.detailedExitcode === true),
      // Computed only for the formats that show them, because both are slow for 10,000 services.
      get document() {
        return {
          problems: set.problems.map(problemDocument),
          warnings: set.warnings.map(problemDocument),
          ...planDocument(planResult),
          requests: requests(),
        }
      },
      problems: [...set.problems, ...set.warnings, ...runtime],
      planDigest: planResult.planDigest,
      get markdown() {
        return planMarkdown(planResult, [...set.problems, ...set.warnings])
      },
    }
  })
}

function planExitCode(planResult: PlanResult, set: ServiceSet, isDetailed: boolean): number {
  const { changes, tripped } = planResult.limited
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
