import { canonicalResponse } from '../../../api/contract/canonical.ts'
import { changesBetween } from '../../../api/contract/fieldChange.ts'
import { guardOrg } from '../../apply/buildPlan.ts'
import { withAcceptedValues } from '../../apply/preservedFields.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { counted } from '../../text/counts.ts'
import type { Command } from '../session/commandEntry.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { closingAfter, openWritingSession, requireExistingState } from '../session/session.ts'
import { requireState, writingWithoutLease } from '../session/stateAccess.ts'
import { actorOf, requireDigest } from './operatorCommands.ts'

/** Approves blocked changes by their digest, or with --pointers the current values of some fields. */
export const approveCommand: Command = ([digest], context) => {
  const { pointers } = context.options
  if (pointers === undefined) return approveDigest(digest ?? '', context)
  if (digest !== undefined) throw new UsageError('approve either a digest or --pointers')
  return approvePointers(pointers, context)
}

/** Approves blocked changes of a plan, for the next apply or cycle of a controller. No request. */
function approveDigest(digest: string, context: CommandContext): Promise<CommandResult> {
  requireDigest(digest)
  return writingWithoutLease(context, async (store) => {
    const approval = { digest, actor: actorOf(context), at: new Date().toISOString() }
    await store.approve(approval)
    context.output.result(`${digest} is approved once, for the next run with exactly these blocked changes`)
    return { exitCode: EXIT.converged, document: { approval } }
  })
}

/** Records the current values of some fields as applied, so that they are no longer drift. Two requests, no write to the API. */
async function approvePointers(list: string, context: CommandContext): Promise<CommandResult> {
  requireState(context)
  const pointers = list.split(',').filter((pointer) => pointer !== '')
  if (pointers.length === 0 || pointers.some((pointer) => !pointer.startsWith('/')))
    throw new UsageError('--pointers takes JSON pointers that "pharos plan" shows, separated by commas')
  const isNamed = (pointer: string): boolean =>
    pointers.some((named) => pointer === named || pointer.startsWith(`${named}/`))
  await requireExistingState(context.options.state, context.env)
  return closingAfter(await openWritingSession(context), async (session) => {
    const { store, client } = session
    await guardOrg(session)
    const live = new Map((await client.listServices()).services.map((service) => [service.id, service]))
    const taken: string[] = []
    const left: string[] = []
    for (const binding of await store.bindings()) {
      const service = live.get(binding.serviceId)
      if (service === undefined || binding.observed === null) continue
      const now = canonicalResponse(service)
      const drift = changesBetween(binding.observed, now, 'by-fingerprint').map(({ pointer }) => pointer)
      const named = drift.filter(isNamed)
      if (named.length > 0) {
        const observed = withAcceptedValues(binding.observed, now, isNamed)
        const heals = binding.heals.filter(({ pointer }) => !isNamed(pointer))
        await store.save({ put: { ...binding, observed, heals } })
        taken.push(binding.key)
      }
      if (named.length < drift.length) left.push(binding.key)
    }
    await store.checkpoint()
    const { output } = context
    output.result(
      `these fields of ${counted(taken.length, 'service')} are recorded with their current values; ${counted(left.length, 'service')} still differ in other fields`,
    )
    for (const key of left) output.result(output.paint.yellow(`  ! ${key}`))
    return { exitCode: EXIT.converged, document: { taken, left, requests: session.requests() } }
  })
}
