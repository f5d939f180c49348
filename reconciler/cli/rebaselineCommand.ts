import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { guardOrg } from '../apply/situation.ts'
import { EXIT } from './exitCode.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'
import { openWritingSession } from './session.ts'
import { UsageError } from './settings.ts'
import { requireState } from './stateAccess.ts'

/**
 * Takes what services have at some pointers as what the API answers for them now, so that it no longer counts
 * as a change by hand. A service that differs in anything else too is left. Two requests, no write to the API.
 */
export async function rebaselineCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  requireState(context)
  const pointers = new Set((context.options.pointers ?? '').split(',').filter((pointer) => pointer !== ''))
  if (pointers.size === 0 || [...pointers].some((pointer) => !pointer.startsWith('/')))
    throw new UsageError('--pointers is needed: those that "pharos plan" shows, separated by commas')
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
      const observed = canonicalResponse(service)
      const drift = changesBetween(binding.observed, observed, 'by-mark').map(({ pointer }) => pointer)
      if (drift.length === 0) continue
      if (drift.every((pointer) => pointers.has(pointer))) {
        await store.save({ put: { ...binding, observed, heals: [] } })
        taken.push(binding.key)
      } else left.push(binding.key)
    }
    await store.checkpoint()
    const { output } = context
    output.result(
      `${taken.length} services are taken as they are, ${left.length} differ in more and are left`,
    )
    for (const key of left) output.result(output.paint.yellow(`  ! ${key}`))
    return { exitCode: EXIT.converged, document: { taken, left, requests: session.requests() } }
  } finally {
    await session.close()
  }
}
