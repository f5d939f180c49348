import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  COMPONENT_TEXT_CHARS_MAX,
  hostName,
  INCIDENTS_SHOWN,
  type IncidentsShown,
  PAGE_TEXT_CHARS_MAX,
  PAGE_TITLE_CHARS_MAX,
  PUBLIC_NAME_CHARS_MAX,
  type StatusPage,
  type StatusPageChange,
  slugProblem,
  type WantedSection,
} from '../domain/statusPages/definition.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import {
  databaseCommand,
  inStore,
  listed,
  type OrgOptions,
  orgCommand,
  type Printed,
  printFromStore,
} from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { table } from './text/output.ts'

interface PageOptions extends DatabaseOptions {
  readonly slug?: string
  readonly title?: string
  readonly text?: string
  readonly visibility?: 'public' | 'hidden'
  readonly incidents?: IncidentsShown
  readonly hideIncident?: readonly string[]
  readonly showIncident?: readonly string[]
}

/** Adds `status-page create`, `list`, `show`, `update`, `delete`, `bind-host` and `unbind-host`. */
export function addStatusPageCommands(program: Command): void {
  const statusPage = program.command('status-page').description('public status pages')
  addCreate(statusPage)
  orgCommand(statusPage, 'list', 'list the status pages of an organisation').action(
    inStore(async (store, { org }: OrgOptions) =>
      listed(await store.listStatusPages(org), {
        ID: 'id',
        SLUG: 'slug',
        VISIBILITY: visibilityOf,
        HOSTS: ({ hosts }) => hosts.join(',') || null,
        TITLE: 'title',
      }),
    ),
  )
  pageCommand(statusPage, 'show', 'show a status page with the ids of its components').action(
    inStore(async (store, { id }: IdOptions) => printed(await store.getStatusPage(id))),
  )
  addUpdate(statusPage)
  pageCommand(statusPage, 'delete', 'delete a status page and its addresses').action(
    inStore(async (store, { id }: IdOptions) => {
      await store.deleteStatusPage(id)
      return { value: { id }, text: `deleted ${id}` }
    }),
  )
  pageCommand(statusPage, 'bind-host', 'serve a page at the root of a host')
    .requiredOption('--host <name>', 'name of the host, such as status.example.org', hostOption)
    .action(
      inStore(async (store, { id, host }: HostOptions) => printed(await store.bindStatusHost(id, host))),
    )
  pageCommand(statusPage, 'unbind-host', 'stop serving a page at the root of a host')
    .requiredOption('--host <name>', 'name of the host', hostOption)
    .action(
      inStore(async (store, { id, host }: HostOptions) => printed(await store.unbindStatusHost(id, host))),
    )
}

type IdOptions = DatabaseOptions & { readonly id: string }
type HostOptions = IdOptions & { readonly host: string }

function pageCommand(statusPage: Command, name: string, description: string): Command {
  return databaseCommand(statusPage, name, description).requiredOption(
    '--id <id>',
    'id of the page, from "status-page list"',
  )
}

function printed(page: StatusPage): Printed {
  return { value: page, text: pageText(page) }
}

function addCreate(statusPage: Command): void {
  const sections: WantedSection[] = []
  addPageOptions(orgCommand(statusPage, 'create', 'create a status page'), sections, true).action(
    async (options: PageOptions & OrgOptions & { slug: string; title: string }, command: Command) => {
      const id = systemEnvironment.uuid()
      const { org: orgId, slug, title } = options
      if (sections.every(({ components }) => components.length === 0))
        throw new Error('--service is missing: name what the page shows')
      const settings = { ...changeOf(options), slug, title, sections }
      await printFromStore(options, command, async (store) => {
        await store.createStatusPage({ id, orgId, settings, nowMs: systemEnvironment.nowMs() })
        return { value: { id, slug }, text: id }
      })
    },
  )
}

function addUpdate(statusPage: Command): void {
  const sections: WantedSection[] = []
  const command = pageCommand(
    statusPage,
    'update',
    'change a status page; --service options replace all sections',
  )
  addPageOptions(command, sections, false)
    .option('--hide-incident <display-id...>', 'incidents to hide, such as INC-42')
    .option('--show-incident <display-id...>', 'incidents to show again')
    .action(async (options: PageOptions & IdOptions, command: Command) => {
      const change = { ...changeOf(options), ...(sections.length === 0 ? {} : { sections }) }
      if (Object.keys(change).length === 0) throw new Error('give at least one setting to change')
      await printFromStore(options, command, async (store) =>
        printed(await store.changeStatusPage(options.id, change)),
      )
    })
}

/** Adds the settings of a page. `--section` and `--service` fill `sections` in the given order. */
function addPageOptions(command: Command, sections: WantedSection[], isNew: boolean): Command {
  const slug = new Option('--slug <slug>', 'last part of its address: /s/<slug>').argParser(slugOption)
  const title = new Option('--title <title>', 'title of the page').argParser(
    readableOption(PAGE_TITLE_CHARS_MAX),
  )
  return command
    .addOption(isNew ? slug.makeOptionMandatory() : slug)
    .addOption(isNew ? title.makeOptionMandatory() : title)
    .option('--text <text>', 'introduction below the title', textOption)
    .addOption(
      new Option(
        '--visibility <visibility>',
        `a hidden page gets the same response as an unknown one${isNew ? ' (default: public)' : ''}`,
      ).choices(['public', 'hidden']),
    )
    .addOption(
      new Option(
        '--incidents <which>',
        `incidents to show: those by people and the API, also automatic ones, or none${isNew ? ' (default: people)' : ''}`,
      ).choices([...INCIDENTS_SHOWN]),
    )
    .option('--section <name>', 'heading of the --service options that follow', (name: string) => {
      sections.push({ name: readableOption(PUBLIC_NAME_CHARS_MAX)(name), components: [] })
    })
    .option('--service <id[=name]>', 'service to show, with its public name', (text: string) => {
      const last = sections.pop() ?? { name: '', components: [] }
      sections.push({ ...last, components: [...last.components, componentOption(text)] })
    })
    .option('--service-text <text>', 'line below the name of the preceding --service', (text: string) =>
      changeLast(sections, { text: serviceTextOption(text) }),
    )
    .option('--service-uptime <shown|hidden>', 'days and uptime of the preceding --service', (text: string) =>
      changeLast(sections, { showsUptime: uptimeOption(text) }),
    )
}

/** Changes the last given service. */
function changeLast(
  sections: WantedSection[],
  change: { readonly text: string } | { readonly showsUptime: boolean },
): void {
  const section = sections.pop()
  const last = section?.components.at(-1)
  if (section === undefined || last === undefined) {
    throw new InvalidArgumentError('must follow the --service that it applies to')
  }
  sections.push({ ...section, components: [...section.components.slice(0, -1), { ...last, ...change }] })
}

const serviceTextOption = readableOption(COMPONENT_TEXT_CHARS_MAX, { mayBeEmpty: true })

function uptimeOption(text: string): boolean {
  if (text === 'shown' || text === 'hidden') return text === 'shown'
  throw new InvalidArgumentError('must be shown or hidden')
}

function componentOption(text: string): WantedSection['components'][number] {
  const [serviceId = ''] = text.split('=', 1)
  const name = text.length > serviceId.length ? text.slice(serviceId.length + 1) : undefined
  return {
    serviceId: serviceId.toLowerCase(),
    name: name === undefined ? undefined : readableOption(PUBLIC_NAME_CHARS_MAX)(name),
  }
}

function changeOf(options: PageOptions): StatusPageChange {
  const { slug, title, text, visibility, incidents, hideIncident: hide, showIncident: show } = options
  const isPublic = visibility && visibility === 'public'
  const change = { slug, title, text, isPublic, incidentsShown: incidents, hide, show }
  // Without absent settings, which stay.
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

function slugOption(text: string): string {
  const problem = slugProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}

const textOption = readableOption(PAGE_TEXT_CHARS_MAX, { lines: 'many lines', mayBeEmpty: true })

function hostOption(text: string): string {
  const host = hostName(text)
  if (host === undefined) throw new InvalidArgumentError('must be a name such as status.example.org')
  return host
}

function visibilityOf({ isPublic }: StatusPage): 'public' | 'hidden' {
  return isPublic ? 'public' : 'hidden'
}

function pageText(page: StatusPage): string {
  const { id, slug, title, incidentsShown, hosts, hiddenIncidents } = page
  const facts = {
    ...{ id, slug, title, visibility: visibilityOf(page), incidents: incidentsShown },
    hosts: hosts.join(', ') || null,
    'hidden incidents': hiddenIncidents.join(', ') || null,
  }
  const components = page.sections.flatMap(({ name: section, components: own }) =>
    own.map((component) => ({ ...component, section })),
  )
  const componentTable = table(components, {
    COMPONENT: 'id',
    SERVICE: 'serviceId',
    SECTION: ({ section }) => section || null,
    NAME: 'name',
    UPTIME: ({ showsUptime }) => (showsUptime ? 'shown' : 'hidden'),
    TEXT: ({ text }) => text || null,
  })
  const factRows = Object.entries(facts).map(([name, value]) => ({ name, value }))
  return `${table(factRows, { PAGE: 'name', '': 'value' })}\n\n${componentTable}`
}
