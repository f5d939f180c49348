import { buildPlan, guardOrg } from '../../apply/buildPlan.ts'
import type { PlanInput } from '../../apply/planResult.ts'
import { type Adoption, adoptionsOf } from '../../plan/adoption.ts'
import { fieldDocument } from '../../render/planDocument.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { runExitCode } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import type { StateStore } from '../../state/model/store.ts'
import { counted } from '../../text/counts.ts'
import { fieldText } from '../../text/fieldText.ts'
import type { Output } from '../../text/output.ts'
import type { Command } from '../session/commandEntry.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { withPlanInput } from '../session/planInput.ts'
import { openSession, openWritingSession, type Session, type WritingSession } from '../session/session.ts'
import { type WrittenId, writeServiceIds } from './writeServiceIds.ts'

/** Actions of `state adopt`. */
const ACTIONS = ['plan', 'apply']

/**
 * Adopts services that equal a manifest, without changing them. `apply` records them in the state, and with --write-ids in
 * the manifests; `plan` only shows them. Two requests.
 */
export const adoptCommand: Command = async ([action = '', path = '.'], context) => {
  const { state, env, writeIds } = context.options
  if (!ACTIONS.includes(action))
    throw new UsageError(
      `use "pharos state adopt plan PATH" to see what would be adopted, or "pharos state adopt apply PATH"`,
    )
  const isDry = action === 'plan'
  if (!isDry && state === undefined && writeIds !== true)
    throw new UsageError('adopt apply needs --state or --write-ids, to record the adopted services')
  if (writeIds === true && env !== undefined)
    throw new UsageError('an id in a manifest applies to every environment: omit --env or --write-ids')
  const open: (context: CommandContext) => Promise<Session | WritingSession> =
    isDry || state === undefined ? openSession : openWritingSession
  return withPlanInput(path, context, { secrets: 'required', regions: 'trusted', open }, (input) =>
    adopt(path, input, context, { isDry, writing: 'lease' in input ? input.store : null }),
  )
}

/** `writing` is the state that records adoptions; null without a state or for a dry run. */
async function adopt(
  path: string,
  input: PlanInput & Session,
  { output, options }: CommandContext,
  { isDry, writing }: { readonly isDry: boolean; readonly writing: StateStore | null },
): Promise<CommandResult> {
  const { set, url, sourceName: source, requests } = input
  const org = await guardOrg(input)
  const planResult = await buildPlan(input)
  const bindings = await input.store.bindings()
  const found = adoptionsOf([...planResult.desired.values()], planResult.services, bindings)
  if (writing !== null) {
    await writing.settleIn({ orgId: org.id, url, source })
    for (const [index, one] of found.entries()) {
      if (one.kind === 'match') await writing.save({ put: one.binding })
      output.progress(`adopted ${index + 1} of ${found.length}`)
    }
    output.progress('')
    await writing.checkpoint()
  }
  const matches = found.flatMap((one) => (one.kind === 'match' ? [one.binding] : []))
  const live = new Set(planResult.services.map(({ id }) => id))
  const owned = [...bindings, ...matches].filter(({ serviceId }) => live.has(serviceId))
  const ids = options.writeIds === true ? writeServiceIds(path, owned, { isDry }) : []
  output.problems(set.problems)
  for (const one of found) writeAdoption(one, writing !== null, output)
  for (const one of ids) output.result(idText(one, isDry, output))
  const what =
    writing === null && !isDry
      ? `Wrote ${counted(ids.filter(({ isWritten }) => isWritten).length, 'id')}`
      : `${isDry ? 'Would adopt' : 'Adopted'} ${counted(matches.length, 'service')}`
  output.result(`${what} (${counted(requests(), 'API request')})`)
  const decisionNeeded = found.length > matches.length || ids.some(({ isWritten }) => !isWritten)
  return {
    exitCode: runExitCode({
      purpose: 'write',
      problems: set.problems,
      usableManifests: set.services.length,
      blocked: decisionNeeded ? [{ needsDecision: true }] : [],
    }),
    document: {
      problems: set.problems.map(problemDocument),
      adoptions: found.map(adoptionDocument),
      ...(options.writeIds === true ? { ids } : {}),
      requests: requests(),
    },
  }
}

function idText({ file, key, id, isWritten }: WrittenId, isDry: boolean, { paint }: Output): string {
  if (!isWritten)
    return paint.yellow(
      `  x ${key}: the id cannot be inserted into ${file} (set metadata.id to ${id} yourself)`,
    )
  return paint.green(`  + ${key}: ${isDry ? 'would write' : 'wrote'} metadata.id: ${id} into ${file}`)
}

function writeAdoption(one: Adoption, isWritten: boolean, output: Output): void {
  const { paint } = output
  switch (one.kind) {
    case 'match':
      output.result(
        paint.green(`  = ${one.key}: ${isWritten ? 'adopted' : 'is'} service ${one.binding.serviceId}`),
      )
      return
    case 'differs':
      output.result(
        paint.yellow(
          `  x ${one.key}: service ${one.id} has this name, but differs (make the manifest equal, or set metadata.id to overwrite the service)`,
        ),
      )
      for (const field of one.fields) output.result(`      ${fieldText({ ...field, reason: 'differs' })}`)
      return
    case 'several':
      output.result(
        paint.yellow(
          `  x ${one.key}: several services match: ${one.ids.join(', ')} (set metadata.id to the id of the right one)`,
        ),
      )
  }
}

function adoptionDocument(one: Adoption): object {
  switch (one.kind) {
    case 'match':
      return { kind: one.kind, key: one.key, id: one.binding.serviceId }
    case 'differs':
      return { ...one, fields: one.fields.map((field) => fieldDocument({ ...field, reason: 'differs' })) }
    case 'several':
      return one
  }
}
