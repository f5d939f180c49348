import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { timestamp } from '../domain/environment.ts'
import {
  CHANNEL_KINDS,
  type ChannelKind,
  channelUrlProblem,
  makeChannel,
  OLD_SECRET_MS,
  sealSecret,
  sealTarget,
} from '../domain/notifications/channel.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from '../domain/notifications/payload.ts'
import { quietChannelNote } from '../domain/notifications/quietChannel.ts'
import { mintSecret } from '../domain/notifications/signature.ts'
import { openValue } from '../domain/seal.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { type FindMasterKey, openMasterKeys } from '../secrets/masterKeys.ts'
import type { ChannelRef, StoredChannel } from '../store/notificationStore.ts'
import { servicesOf } from '../store/shared/readServices.ts'
import type { Store } from '../store/store.ts'
import { addDeliveryCommands } from './deliveryCommands.ts'
import { type ChannelOptions, channelCommand, channelRefOf } from './options/channelOptions.ts'
import {
  inStore,
  type OrgOptions,
  orgCommand,
  type Printed,
  printFromStore,
} from './options/databaseCommand.ts'
import { engineOf } from './options/databaseOption.ts'
import { keySourceOf, type MasterKeyOptions, masterKeyOption } from './options/masterKeyOption.ts'
import { readableOption } from './options/readableOption.ts'
import { webhookAddressNote } from './options/webhookRanges.ts'
import { note, table } from './text/output.ts'

/** Name of stdin as a file, and its file descriptor. */
const STDIN_NAME = '-'
const STDIN = 0
/** Longest name of a channel (code points). Gap G35. */
const NAME_CHARS_MAX = 200

interface CreateOptions extends MasterKeyOptions, OrgOptions {
  readonly kind: ChannelKind
  readonly name: string
  readonly url?: string
  readonly urlFile?: string
  readonly events: readonly ChannelEvent[]
  readonly service?: readonly string[]
}

type Variables = Readonly<Record<string, string | undefined>>

/** Adds the commands of notification channels. `environment` is process.env. Contract: Events, rule 2; Gap G9. */
export function addChannelCommands(program: Command, environment: Variables): void {
  const channel = program.command('channel').description('notification channels: webhooks and Slack')
  addCreate(channel, environment)
  orgCommand(channel, 'list', 'list the channels of an organisation').action(
    inStore(async (store, { org }: OrgOptions) => {
      const channels = await store.listChannels(org)
      const text = table(channels, {
        ID: 'id',
        KIND: 'kind',
        NAME: 'name',
        HOST: 'host',
        STATE: ({ state, disabledReason }) =>
          disabledReason === null ? state : `${state}: ${disabledReason}`,
        'LAST SUCCESS': ({ lastSuccessAtMs: ms }) => instant(ms),
      })
      return { value: channels.map(shown), text }
    }),
  )
  addUpdate(channel, environment)
  addSecretCommands(channel, environment)
  addChange(channel, ['enable', 'enable a disabled channel', 'enabled'], (store, ref, nowMs) =>
    store.setChannelState(ref, 'active', nowMs),
  )
  addChange(channel, ['disable', 'send nothing more to a channel', 'disabled'], (store, ref, nowMs) =>
    store.setChannelState(ref, 'disabled', nowMs),
  )
  addChange(channel, ['delete', 'delete a channel and its deliveries', 'deleted'], (store, ref, nowMs) =>
    store.deleteChannel(ref, nowMs),
  )
  addDeliveryCommands(channel)
}

function addCreate(channel: Command, environment: Variables): void {
  orgCommand(channel, 'create', 'create a channel and print its signing secret')
    .addOption(
      new Option('--kind <kind>', 'form of the messages').choices(CHANNEL_KINDS).makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'name for the list of channels', readableOption(NAME_CHARS_MAX))
    .option('--url <url>', 'URL that receives the events; visible in the process list while the command runs')
    .option('--url-file <file>', 'file with that URL; - for stdin')
    .addOption(
      new Option('--events <events>', 'events to send, separated by commas')
        .argParser(readEvents)
        .default([...CHANNEL_EVENTS], 'all'),
    )
    .option('--service <ids...>', 'only events of these services (default: of all)')
    .addOption(masterKeyOption())
    .action(async (options: CreateOptions, command: Command) => {
      const { org: orgId, kind, name, events, service } = options
      const url = urlOf(options)
      const id = systemEnvironment.uuid()
      const secret = kind === 'slack' ? null : mintSecret(systemEnvironment)
      const serviceIds = service === undefined ? null : [...new Set(service.map((one) => one.toLowerCase()))]
      const wanted = { id, kind, name, events, serviceIds }
      await withMasterKeys(environment, async ({ store, find }) => {
        await store.createChannel(
          orgId,
          (keyId) => makeChannel(wanted, { orgId, url, secret }, find(keyId), systemEnvironment),
          systemEnvironment.nowMs(),
        )
        noteAddress(url, command)
        const quiet = quietChannelNote(wanted, await servicesOf(store, orgId))
        if (quiet !== undefined) note(command, `pharos-server: note: ${quiet}`)
        return { value: { id, secret }, text: secret === null ? id : `${id}\n${secret}` }
      })(options, command)
    })
}

interface UpdateOptions
  extends ChannelOptions,
    MasterKeyOptions,
    Partial<Pick<CreateOptions, 'name' | 'url' | 'urlFile' | 'events' | 'service'>> {
  readonly allServices?: boolean
}

function addUpdate(channel: Command, environment: Variables): void {
  channelCommand(channel, 'update', 'change a channel; settings without an option stay')
    .option('--name <name>', 'new name', readableOption(NAME_CHARS_MAX))
    .option(
      '--url <url>',
      'new URL, also of waiting deliveries; visible in the process list while the command runs',
    )
    .option('--url-file <file>', 'file with that URL; - for stdin')
    .option('--events <events>', 'events to send, separated by commas', readEvents)
    .addOption(new Option('--service <ids...>', 'only events of these services').conflicts('allServices'))
    .option('--all-services', 'events of all services')
    .addOption(masterKeyOption())
    .action(async (options: UpdateOptions, command: Command) => {
      const { id, name, events, service, allServices } = options
      const hasUrl = options.url !== undefined || options.urlFile !== undefined
      if (name === undefined && events === undefined && service === undefined && !allServices && !hasUrl) {
        throw new Error(
          'name what to change: --name, --url, --url-file, --events, --service or --all-services',
        )
      }
      const url = hasUrl ? urlOf(options) : undefined
      await withMasterKeys(environment, async ({ store, find }) => {
        await store.changeChannel(
          channelRefOf(options),
          (before, keyId) => ({
            name: name ?? before.name,
            events: events ?? before.events,
            serviceIds: allServices
              ? null
              : (service?.map((each) => each.toLowerCase()) ?? before.serviceIds),
            target:
              url === undefined
                ? undefined
                : sealTarget(url, { ...before, channelId: before.id }, find(keyId), systemEnvironment),
          }),
          systemEnvironment.nowMs(),
        )
        if (url !== undefined) noteAddress(url, command)
        return { value: { id }, text: `changed ${id}` }
      })(options, command)
    })
}

function addSecretCommands(channel: Command, environment: Variables): void {
  type SecretOptions = ChannelOptions & MasterKeyOptions
  channelCommand(channel, 'show-secret', 'print the signing secret; the audit log records it')
    .addOption(masterKeyOption())
    .action(
      withMasterKeys(environment, async ({ store, find }, options: SecretOptions) => {
        const sealed = await store.showSecret(channelRefOf(options), systemEnvironment.nowMs())
        const secret = openValue(sealed, find(sealed.masterKeyId))
        return { value: { id: options.id, secret }, text: secret }
      }),
    )
  channelCommand(channel, 'rotate', 'replace the signing secret; the old one also signs for 24 hours')
    .addOption(masterKeyOption())
    .action(
      withMasterKeys(environment, async ({ store, find }, options: SecretOptions) => {
        const secret = mintSecret(systemEnvironment)
        const nowMs = systemEnvironment.nowMs()
        await store.rotateSecret(
          channelRefOf(options),
          ({ id: channelId, orgId }, keyId) =>
            sealSecret(secret, { orgId, channelId, role: 'secret' }, find(keyId), systemEnvironment),
          { nowMs, oldUntilMs: nowMs + OLD_SECRET_MS },
        )
        return { value: { id: options.id, secret }, text: secret }
      }),
    )
}

/** Warns on stderr when the server may refuse to send to `url`. */
function noteAddress(url: string, command: Command): void {
  const reason = webhookAddressNote(url)
  if (reason !== undefined) note(command, `pharos-server: note: ${reason}`)
}

function addChange(
  channel: Command,
  [name, description, done]: readonly [name: string, description: string, done: string],
  change: (store: Store, ref: ChannelRef, nowMs: number) => Promise<void>,
): void {
  channelCommand(channel, name, description).action(
    inStore(async (store, options: ChannelOptions) => {
      await change(store, channelRefOf(options), systemEnvironment.nowMs())
      return { value: { id: options.id }, text: `${done} ${options.id}` }
    }),
  )
}

interface Keyed {
  readonly store: Store
  readonly find: FindMasterKey
}

/** As `inStore`, also with the master keys of the database, whose source is read first. */
function withMasterKeys<Options extends MasterKeyOptions>(
  variables: Variables,
  work: (keyed: Keyed, options: Options, command: Command) => Promise<Printed>,
) {
  return (options: Options, command: Command): Promise<void> => {
    const { dataDir = null } = options
    const { makesMasterKeys } = engineOf(options)
    const source = keySourceOf(options, variables)
    return printFromStore(options, command, async (store) => {
      const parts = { store, source, dataDir, environment: systemEnvironment, makesMasterKeys }
      return work({ store, find: await openMasterKeys(parts) }, options, command)
    })
  }
}

function instant(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms)
}

function shown(channel: StoredChannel) {
  const { id, kind, name, host, events, serviceIds, state, disabledReason } = channel
  return {
    ...{ id, kind, name, host, events, state },
    service_ids: serviceIds,
    disabled_reason: disabledReason,
    disabled_at: instant(channel.disabledAtMs),
    last_success_at: instant(channel.lastSuccessAtMs),
    created_at: instant(channel.createdAtMs),
  }
}

/** The URL of the channel. Its path may be a secret, so errors name only the host; commander would print the whole URL. */
function urlOf({ url, urlFile }: Pick<CreateOptions, 'url' | 'urlFile'>): string {
  if ((url === undefined) === (urlFile === undefined)) throw new Error('name either --url or --url-file')
  const text = url ?? readFileSync(urlFile === STDIN_NAME ? STDIN : String(urlFile), 'utf8').trim()
  const problem = channelUrlProblem(text)
  if (problem === undefined) return text
  const host = URL.canParse(text) ? ` of ${new URL(text).hostname}` : ''
  throw new Error(`the URL${host} ${problem}`)
}

function readEvents(text: string): readonly ChannelEvent[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  const events = CHANNEL_EVENTS.filter((event) => names.includes(event))
  if (events.length === names.length) return events
  throw new InvalidArgumentError(`must name events of ${CHANNEL_EVENTS.join(', ')}`)
}
