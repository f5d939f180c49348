import { buildPlan, guardOrg } from '../../apply/buildPlan.ts'
import { type Drift, driftOf } from '../../plan/drift.ts'
import { fieldDocument } from '../../render/planDocument.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { runExitCode } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { counted } from '../../text/counts.ts'
import { fieldText } from '../../text/fieldText.ts'
import type { Output } from '../../text/output.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { withPlanInput } from '../session/planInput.ts'
import { openSession, requireExistingState } from '../session/session.ts'

/**
 * Shows manual changes since the last apply. Needs no secrets: services are compared with the API's last responses. Two
 * requests, no write.
 */
export async function driftCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options } = context
  // Without a state the result would always be "no drift".
  await requireExistingState(options.state, context.env)
  const how = { secrets: 'optional', regions: 'trusted', open: openSession } as const
  return withPlanInput(path, context, how, async (input) => {
    const { set, requests } = input
    // Nothing can be compared, which must not be reported as no drift.
    if (options.state === undefined && set.services.every(({ id }) => id === undefined))
      throw new UsageError('drift needs --state: without one only manifests with metadata.id can be compared')
    await guardOrg(input)
    const planResult = await buildPlan(input)
    const drifts = driftOf(planResult.plan)
    output.problems(set.problems)
    for (const warning of planResult.warnings) output.notice(warning)
    for (const drift of drifts) writeDrift(drift, output)
    const managed = planResult.plan.changes.length + planResult.plan.unchanged.length
    output.result(
      drifts.length === 0 ? 'No drift' : `Drift: ${counted(drifts.length, 'service')} of ${managed}`,
    )
    return {
      exitCode: runExitCode({
        purpose: 'look',
        problems: set.problems,
        usableManifests: set.services.length,
        hasChanges: drifts.length > 0,
      }),
      document: {
        problems: set.problems.map(problemDocument),
        ...(planResult.leftOut.services === 0 ? {} : { leftOut: planResult.leftOut }),
        drift: drifts.map((drift) => ({ ...drift, fields: drift.fields.map(fieldDocument) })),
        requests: requests(),
      },
    }
  })
}

function writeDrift(drift: Drift, output: Output): void {
  const what =
    drift.kind === 'deleted' ? `service ${drift.id} was deleted` : `service ${drift.id} was changed`
  output.result(output.paint.magenta(`  ! ${drift.key}: ${what}`))
  // A plan shows the reversal, drift shows the manual change itself.
  for (const field of drift.fields)
    output.result(`      ${fieldText({ ...field, from: field.to, to: field.from })}`)
}
