import { type Command, InvalidArgumentError, Option } from 'commander'
import { timestamp } from '../domain/environment.ts'
import { REGIONS } from '../domain/regions.ts'
import { assertOrg } from '../store/shared/readServices.ts'
import type { CommandFilter, LoggedCommand, Store } from '../store/store.ts'
import { databaseCommand } from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'
import { inDatabase } from './options/withStore.ts'

type Write = (text: string) => void

/** Commands per page: there may be millions. */
const PAGE_COMMANDS = 1_000

interface CommandOptions extends DatabaseOptions {
  readonly org?: string
  readonly service?: string
  readonly region?: string
  readonly unpublished?: boolean
  readonly after?: number
  readonly limit?: number
}

/** Adds `commands`, which lists the commands to the regions in the order of their sequence numbers. */
export function addCommandLog(program: Command): void {
  databaseCommand(
    program,
    'commands',
    'list the commands that start and end monitoring in regions, by sequence number',
  )
    .option('--org <id>', 'only commands of this organisation')
    .option('--service <id>', 'only commands of this service, which may be deleted')
    .addOption(
      new Option('--region <code>', 'only commands to this region').choices(REGIONS.map(({ code }) => code)),
    )
    .option('--unpublished', 'only commands that are not published yet')
    .option('--after <sequence>', 'only commands after this sequence number', whole)
    .option('--limit <n>', 'maximum number of commands', whole)
    .action(async (options: CommandOptions, command: Command) => {
      const write: Write = (text) => command.configureOutput().writeOut?.(text)
      await inDatabase(options, async (store) => {
        if (options.org !== undefined) await assertOrg(store, options.org)
        const pages = pagesOf(store, filterOf(options), options.limit)
        await (options.json ? writeJson(write, pages) : writeTable(write, pages))
      })
    })
}

function whole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be a whole number')
}

function filterOf({ org, service, region, unpublished, after }: CommandOptions): CommandFilter {
  return {
    orgId: org,
    serviceId: service?.toLowerCase(),
    region,
    isUnpublished: unpublished ?? false,
    afterSequence: after ?? 0,
  }
}

/** The commands that match `filter`, at most `limit`, page by page. */
async function* pagesOf(
  store: Store,
  filter: CommandFilter,
  limit = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly LoggedCommand[], void> {
  let left = limit
  let { afterSequence } = filter
  while (left > 0) {
    const countMax = Math.min(left, PAGE_COMMANDS)
    const page = await store.listCommands({ ...filter, afterSequence: afterSequence ?? 0, countMax })
    yield page
    left -= page.length
    afterSequence = page.at(-1)?.sequence
    if (page.length < countMax) return
  }
}

/** One JSON array. `service_id` is the old name of `serviceId`, for existing scripts. */
async function writeJson(write: Write, pages: AsyncIterable<readonly LoggedCommand[]>): Promise<void> {
  let lead = '['
  for await (const page of pages) {
    for (const { createdAtMs, serviceId, ...command } of page) {
      const createdAt = timestamp(createdAtMs)
      write(`${lead}${JSON.stringify({ ...command, createdAt, serviceId, service_id: serviceId })}`)
      lead = ','
    }
  }
  write(lead === '[' ? '[]\n' : ']\n')
}

/** Column widths, fixed to the longest possible text because later pages are unknown. */
const WIDTHS = { sequence: 10, created: 24, published: 9, type: 22, region: 14, generation: 10, service: 36 }

async function writeTable(write: Write, pages: AsyncIterable<readonly LoggedCommand[]>): Promise<void> {
  const widths = Object.values(WIDTHS)
  const line = (cells: readonly string[]): void => {
    const padded = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    write(`${padded.join('  ').trimEnd()}\n`)
  }
  line(Object.keys(WIDTHS).map((title) => title.toUpperCase()))
  for await (const page of pages) {
    for (const { sequence, createdAtMs, isPublished, type, region, generation, serviceId } of page) {
      const when = [String(sequence), timestamp(createdAtMs), isPublished ? 'yes' : 'no']
      line([...when, type, region, String(generation), serviceId])
    }
  }
}
