import type { Command } from 'commander'
import type { ChannelRef } from '../../store/notificationStore.ts'
import { addDatabase, type DatabaseOptions } from './databaseOption.ts'

/** Options of a command about one channel. */
export interface ChannelOptions extends DatabaseOptions {
  readonly id: string
  readonly org?: string
}

/** Adds `--id` and `--org` of a command about one channel. */
export function addChannelOptions(command: Command): Command {
  return addDatabase(command)
    .requiredOption('--id <id>', 'id of the channel, from "channel list"')
    .option('--org <id>', 'fail unless the channel belongs to this organisation')
}

/** The channel that the options name. Pure. */
export function channelRefOf({ id, org: orgId }: ChannelOptions): ChannelRef {
  return { id, orgId }
}
