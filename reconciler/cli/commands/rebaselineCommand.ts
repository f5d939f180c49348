import { canonicalResponse } from '../../../api/contract/canonical.ts'
import { changesBetween } from '../../../api/contract/fieldChange.ts'
import { takingValues } from '../../apply/keptValues.ts'
import { guardOrg } from '../../apply/situation.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { openWritingSession, requireExistingState } from '../session/session.ts'
import { requireState } from '../session/stateAccess.ts'

/**
 * Takes what services have at some pointers as what the API answers for them now, so that it no longer counts
 * as a change by hand. What differs elsewhere still does. Two requests, no write to the API.
 */
export async function rebaselineCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  requireState(context)
  const pointers = (context.options.pointers ?? '').split(',').filter((pointer) => pointer !== '')
  if (pointers.length === 0 || pointers.some((pointer) => !pointer.startsWith('/')))
    throw new UsageError('--pointers is needed: those that "pharos plan" shows, separated by commas')
  const isNamed = (pointer: string): boolean =>
    pointers.some((named) => pointer === named || pointer.startsWith(`${named}/`))
  await requireExistingState(context.options.state, context.env)
  const session = await openWritingSession(context)
  try {
    const { store, client } = session
    await guardOrg(session)
    const live = new Map((await client.listServices()).services.map((service) => [service.id, service]))
    const taken: string[] = []
    const left: string[] = []
    for (const binding of await store.bindings()) {
      const service = live.get(binding.serviceId)
      if (service === undefined || binding.observed === null) continue
      const now = canonicalResponse(service)
      const drift = changesBetween(binding.observed, now, 'by-mark').map(({ pointer }) => pointer)
      const named = drift.filter(isNamed)
      if (named.length > 0) {
        const observed = takingValues(binding.observed, now, isNamed)
        const heals = binding.heals.filter(({ pointer }) => !isNamed(pointer))
        await store.save({ put: { ...binding, observed, heals } })
        taken.push(binding.key)
      }
      if (named.length < drift.length) left.push(binding.key)
    }
    await store.checkpoint()
    const { output } = context
    output.result(
      `these fields of ${counted(taken.length, 'service')} are taken as they are; ${counted(left.length, 'service')} differ elsewhere, which is left`,
    )
    for (const key of left) output.result(output.paint.yellow(`  ! ${key}`))
    return { exitCode: EXIT.converged, document: { taken, left, requests: session.requests() } }
  } finally {
    await session.close()
  }
}
