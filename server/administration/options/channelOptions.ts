import type { Command } from 'commander'
import type { ChannelRef } from '../../store/notificationStore.ts'
import { databaseCommand } from './databaseCommand.ts'
import type { DatabaseOptions } from './databaseOption.ts'

/** Options of a command about one channel. */
export interface ChannelOptions extends DatabaseOptions {
  readonly id: string
  readonly org?: string
}

/** Adds the command `name`, about one channel, to `channel`. */
export function channelCommand(channel: Command, name: string, description: string): Command {
  return databaseCommand(channel, name, description)
    .requiredOption('--id <id>', 'id of the channel, from "channel list"')
    .option('--org <id>', 'fail unless the channel belongs to this organisation')
}

/** The channel that the options name. Pure. */
export function channelRefOf({ id, org: orgId }: ChannelOptions): ChannelRef {
  return { id, orgId }
}
