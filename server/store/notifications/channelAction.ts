import type { Actor } from '../../domain/accounts/actor.ts'
import type { StoredChannel } from '../notificationStore.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import type { Script } from '../scripts/script.ts'
import type { AuditedAction } from '../shared/auditedAction.ts'

/** The default actor. */
export const CLI = { kind: 'cli' } as const

/** An action on a channel; by the command line when `by` is absent. */
interface ChannelAction {
  readonly channel: Pick<StoredChannel, 'id' | 'orgId'>
  readonly by?: Actor | undefined
  readonly nowMs: number
  readonly detail?: NonNullable<AuditedAction['detail']>
}

/** Adds an action on a channel, such as `create`, to the audit log. */
export function recordChannelAction(
  verb: string,
  { channel, by = CLI, nowMs, detail = {} }: ChannelAction,
): Script<void> {
  const action = `channel.${verb}`
  return recordAction({ orgId: channel.orgId, targetId: channel.id, by, nowMs, action, detail })
}
