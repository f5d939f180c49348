import type { NotificationStore } from '../../notificationStore.ts'
import { assertActive, CLI, channelAction, DISABLED_BY_HAND } from '../../shared/channelRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import type { Connections } from '../files/openDatabase.ts'
import {
  CHANNEL_SQL,
  type ChannelParts,
  type ChannelRow,
  channelOfRow,
  prepareFindChannel,
} from './channelRows.ts'
import { prepareChange, prepareCreate, prepareRotate, prepareShowSecret } from './channelWrites.ts'
import { prepareDisable } from './disable.ts'

type ChannelMethods =
  | 'createChannel'
  | 'listChannels'
  | 'rotateSecret'
  | 'changeChannel'
  | 'showSecret'
  | 'setChannelState'
  | 'deleteChannel'
  | 'testChannel'

/** Notification channels in SQLite. */
export function sqliteChannels(
  connections: Connections,
  parts: ChannelParts,
): Pick<NotificationStore, ChannelMethods> {
  const { reader, writer } = connections
  const { commits, announce, note } = parts
  const find = prepareFindChannel(writer)
  const org = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], ChannelRow>(
    `${CHANNEL_SQL} WHERE org_id = ? ORDER BY created_at_ms, id`,
  )
  const remove = writer.prepare('DELETE FROM channels WHERE id = ?')
  const enable = writer.prepare(
    `UPDATE channels SET state = 'active', disabled_reason = NULL, disabled_at_ms = NULL, enabled_at_ms = ? WHERE id = ?`,
  )
  const disable = prepareDisable(writer, note)
  return {
    createChannel: prepareCreate(writer, parts),
    listChannels: async (orgId) => {
      if (org.get(orgId) === undefined) throw orgNotFound(orgId)
      return list.all(orgId).map(channelOfRow)
    },
    rotateSecret: prepareRotate(writer, parts, find),
    changeChannel: prepareChange(writer, parts, find),
    showSecret: prepareShowSecret(writer, parts, find),
    setChannelState: (ref, state, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        if (channel.state === state) return
        if (state === 'disabled')
          return disable(channel, { reason: DISABLED_BY_HAND, by: ref.by ?? CLI, nowMs })
        enable.run(nowMs, channel.id)
        note(channelAction('enable', { channel, nowMs, by: ref.by }))
      }),
    deleteChannel: (ref, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        remove.run(channel.id)
        note(channelAction('delete', { channel, nowMs, by: ref.by, detail: { name: channel.name } }))
      }),
    testChannel: (ref, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        assertActive(channel)
        note(channelAction('test', { channel, nowMs, by: ref.by }))
        return announce.test(channel.orgId, channel)
      }),
  }
}
