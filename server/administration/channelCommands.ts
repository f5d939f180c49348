import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { timestamp } from '../domain/environment.ts'
import {
  CHANNEL_KINDS,
  type ChannelKind,
  channelUrlProblem,
  OLD_SECRET_MS,
  sealSecret,
} from '../domain/notifications/channel.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from '../domain/notifications/payload.ts'
import { quietChannelNote } from '../domain/notifications/quietChannel.ts'
import { mintSecret } from '../domain/notifications/signature.ts'
import { openValue } from '../domain/seal.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { openMasterKeys } from '../secrets/masterKeys.ts'
import type { ChannelRef, StoredChannel } from '../store/notificationStore.ts'
import { servicesOf } from '../store/shared/readServices.ts'
import type { Store } from '../store/store.ts'
import { addDeliveryCommands } from './deliveryCommands.ts'
import { addChannelOptions, type ChannelOptions, channelRefOf } from './options/channelOptions.ts'
import { addDatabase, type DatabaseOptions, engineOf } from './options/databaseOption.ts'
import { keySourceOf, type MasterKeyOptions, masterKeyOption } from './options/masterKeyOption.ts'
import { readableOption } from './options/readableOption.ts'
import { webhookAddressNote } from './options/webhookRanges.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase, withExistingStore } from './options/withStore.ts'

/** Name of stdin as a file, and its file descriptor. */
const STDIN_NAME = '-'
const STDIN = 0
/** Longest name of a channel (code points). Gap G35. */
const NAME_CHARS_MAX = 200

interface CreateOptions extends MasterKeyOptions {
  readonly org: string
  readonly kind: ChannelKind
  readonly name: string
  readonly url?: string
  readonly urlFile?: string
  readonly events: readonly ChannelEvent[]
  readonly service?: readonly string[]
}

type Variables = Readonly<Record<string, string | undefined>>

/** Adds the commands of notification channels. `environment` is process.env. Contract: Events, rule 2; Gap G9. */
export function addChannelCommands(program: Command, write: Write, environment: Variables): void {
  const channel = program.command('channel').description('notification channels: webhooks and Slack')
  addCreate(channel, write, environment)
  addDatabase(channel.command('list').description('list the channels of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async ({ json, org, ...place }: DatabaseOptions & { org: string }) => {
      const channels = await inDatabase(place, (store) => store.listChannels(org))
      const rows = channels.map(({ id, kind, name, host, state, ...rest }) => [
        ...[id, kind, name, host, rest.disabledReason === null ? state : `${state}: ${rest.disabledReason}`],
        rest.lastSuccessAtMs === null ? '-' : timestamp(rest.lastSuccessAtMs),
      ])
      const header = ['ID', 'KIND', 'NAME', 'HOST', 'STATE', 'LAST SUCCESS']
      present(write, json, channels.map(shown), table(header, rows))
    })
  addUpdate(channel, write, environment)
  addShowSecret(channel, write, environment)
  addRotate(channel, write, environment)
  addChange(channel, write, {
    ...{ name: 'enable', description: 'enable a disabled channel', done: 'enabled' },
    change: (store, ref) => store.setChannelState(ref, 'active', systemEnvironment.nowMs()),
  })
  addChange(channel, write, {
    ...{ name: 'disable', description: 'send nothing more to a channel', done: 'disabled' },
    change: (store, ref) => store.setChannelState(ref, 'disabled', systemEnvironment.nowMs()),
  })
  addChange(channel, write, {
    ...{ name: 'delete', description: 'delete a channel and its deliveries', done: 'deleted' },
    change: (store, ref) => store.deleteChannel(ref, systemEnvironment.nowMs()),
  })
  addDeliveryCommands(channel, write)
}

function addCreate(channel: Command, write: Write, environment: Variables): void {
  addDatabase(channel.command('create').description('create a channel and print its signing secret'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
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
      let quiet: string | undefined
      await withMasterKeys(options, environment, async (store, find) => {
        await store.createChannel(
          orgId,
          (masterKeyId) => {
            const seal = (value: string, role: 'target' | 'secret') =>
              sealSecret(value, { orgId, channelId: id, role }, find(masterKeyId), systemEnvironment)
            const sealed = {
              target: seal(url, 'target'),
              secret: secret === null ? null : seal(secret, 'secret'),
            }
            return { id, kind, name, host: new URL(url).host, events, serviceIds, sealed }
          },
          systemEnvironment.nowMs(),
        )
        quiet = quietChannelNote({ events, serviceIds }, await servicesOf(store, orgId))
      })
      noteAddress(url, command)
      if (quiet !== undefined) note(command, quiet)
      present(write, options.json, { id, secret }, secret === null ? id : `${id}\n${secret}`)
    })
}

interface UpdateOptions extends ChannelOptions, MasterKeyOptions {
  readonly name?: string
  readonly url?: string
  readonly urlFile?: string
  readonly events?: readonly ChannelEvent[]
  readonly service?: readonly string[]
  readonly allServices?: boolean
}

function addUpdate(channel: Command, write: Write, environment: Variables): void {
  addChannelOptions(
    channel.command('update').description('change a channel; settings without an option stay'),
  )
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
      const { name, events, service, allServices } = options
      const hasUrl = options.url !== undefined || options.urlFile !== undefined
      if (name === undefined && events === undefined && service === undefined && !allServices && !hasUrl) {
        throw new Error(
          'name what to change: --name, --url, --url-file, --events, --service or --all-services',
        )
      }
      const url = hasUrl ? urlOf(options) : undefined
      await withMasterKeys(options, environment, (store, find) =>
        store.changeChannel(
          channelRefOf(options),
          (before, masterKeyId) => {
            const place = { orgId: before.orgId, channelId: before.id, role: 'target' } as const
            return {
              name: name ?? before.name,
              events: events ?? before.events,
              serviceIds: allServices ? null : (service?.map((id) => id.toLowerCase()) ?? before.serviceIds),
              target:
                url === undefined
                  ? undefined
                  : {
                      host: new URL(url).host,
                      sealed: sealSecret(url, place, find(masterKeyId), systemEnvironment),
                    },
            }
          },
          systemEnvironment.nowMs(),
        ),
      )
      if (url !== undefined) noteAddress(url, command)
      present(write, options.json, { id: options.id }, `changed ${options.id}`)
    })
}

function addShowSecret(channel: Command, write: Write, environment: Variables): void {
  addChannelOptions(
    channel.command('show-secret').description('print the signing secret; the audit log records it'),
  )
    .addOption(masterKeyOption())
    .action(async (options: ChannelOptions & MasterKeyOptions) => {
      let secret = ''
      await withMasterKeys(options, environment, async (store, find) => {
        const sealed = await store.showSecret(channelRefOf(options), systemEnvironment.nowMs())
        secret = openValue(sealed, find(sealed.masterKeyId))
      })
      present(write, options.json, { id: options.id, secret }, secret)
    })
}

function addRotate(channel: Command, write: Write, environment: Variables): void {
  addChannelOptions(
    channel.command('rotate').description('replace the signing secret; the old one also signs for 24 hours'),
  )
    .addOption(masterKeyOption())
    .action(async (options: ChannelOptions & MasterKeyOptions) => {
      const secret = mintSecret(systemEnvironment)
      const nowMs = systemEnvironment.nowMs()
      await withMasterKeys(options, environment, (store, find) =>
        store.rotateSecret(
          channelRefOf(options),
          ({ id: channelId, orgId }, masterKeyId) =>
            sealSecret(secret, { orgId, channelId, role: 'secret' }, find(masterKeyId), systemEnvironment),
          { nowMs, oldUntilMs: nowMs + OLD_SECRET_MS },
        ),
      )
      present(write, options.json, { id: options.id, secret }, secret)
    })
}

interface Change {
  readonly name: string
  readonly description: string
  readonly done: string
  readonly change: (store: Store, channel: ChannelRef) => Promise<void>
}

/** Warns on stderr when the server may refuse to send to `url`. */
function noteAddress(url: string, command: Command): void {
  const reason = webhookAddressNote(url)
  if (reason !== undefined) note(command, reason)
}

function note(command: Command, text: string): void {
  command.configureOutput().writeErr?.(`pharos-server: note: ${text}\n`)
}

function addChange(channel: Command, write: Write, { name, description, done, change }: Change): void {
  addChannelOptions(channel.command(name).description(description)).action(
    async (options: ChannelOptions) => {
      await inDatabase(options, (store) => change(store, channelRefOf(options)))
      present(write, options.json, { id: options.id }, `${done} ${options.id}`)
    },
  )
}

async function withMasterKeys(
  options: MasterKeyOptions,
  variables: Variables,
  work: (store: Store, find: Awaited<ReturnType<typeof openMasterKeys>>) => Promise<void>,
): Promise<void> {
  const { dataDir = null } = options
  const engine = engineOf(options)
  const source = keySourceOf(options, variables)
  await withExistingStore(engine, async (store) =>
    work(
      store,
      await openMasterKeys({
        ...{ store, source, dataDir, environment: systemEnvironment },
        makesMasterKeys: engine.makesMasterKeys,
      }),
    ),
  )
}

function shown(channel: StoredChannel) {
  const { id, kind, name, host, events, serviceIds, state, disabledReason } = channel
  const instant = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))
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
