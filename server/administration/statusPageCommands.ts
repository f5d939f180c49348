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
import type { Store } from '../store/store.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

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
export function addStatusPageCommands(program: Command, write: Write): void {
  const statusPage = program.command('status-page').description('public status pages')
  addCreate(statusPage, write)
  addDatabase(statusPage.command('list').description('list the status pages of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async ({ json, org, ...place }: DatabaseOptions & { org: string }) => {
      const pages = await inDatabase(place, (store) => store.listStatusPages(org))
      const rows = pages.map(({ id, slug, title, isPublic, hosts }) => [
        ...[id, slug, isPublic ? 'public' : 'hidden', hosts.join(',') || '-', title],
      ])
      present(write, json, pages, table(['ID', 'SLUG', 'VISIBILITY', 'HOSTS', 'TITLE'], rows))
    })
  const addOne = (name: string, description: string, work: PageWork): Command =>
    addPageCommand(statusPage, { name, description, work }, write)
  addOne('show', 'show a status page with the ids of its components', ({ store, id }) =>
    store.getStatusPage(id),
  )
  addUpdate(statusPage, write)
  addDatabase(statusPage.command('delete').description('delete a status page and its addresses'))
    .requiredOption('--id <id>', 'id of the page, from "status-page list"')
    .action(async ({ json, id, ...place }: DatabaseOptions & { id: string }) => {
      await inDatabase(place, (store) => store.deleteStatusPage(id))
      present(write, json, { id }, `deleted ${id}`)
    })
  addOne('bind-host', 'serve a page at the root of a host', ({ store, id, host }) =>
    store.bindStatusHost(id, host),
  ).requiredOption('--host <name>', 'name of the host, such as status.example.org', hostOption)
  addOne('unbind-host', 'stop serving a page at the root of a host', ({ store, id, host }) =>
    store.unbindStatusHost(id, host),
  ).requiredOption('--host <name>', 'name of the host', hostOption)
}

type PageWork = (given: {
  readonly store: Store
  readonly id: string
  readonly host: string
}) => Promise<StatusPage>

function addPageCommand(
  statusPage: Command,
  {
    name,
    description,
    work,
  }: { readonly name: string; readonly description: string; readonly work: PageWork },
  write: Write,
): Command {
  return addDatabase(statusPage.command(name).description(description))
    .requiredOption('--id <id>', 'id of the page, from "status-page list"')
    .action(async ({ json, id, host = '', ...place }: DatabaseOptions & { id: string; host?: string }) => {
      const page = await inDatabase(place, (store) => work({ store, id, host }))
      present(write, json, page, pageText(page))
    })
}

function addCreate(statusPage: Command, write: Write): void {
  const sections: WantedSection[] = []
  addPageOptions(statusPage.command('create').description('create a status page'), sections, true)
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async (options: PageOptions & { org: string; slug: string; title: string }) => {
      const id = systemEnvironment.uuid()
      const { org: orgId, slug, title } = options
      if (sections.every(({ components }) => components.length === 0))
        throw new Error('--service is missing: name what the page shows')
      const settings = { ...changeOf(options), slug, title, sections }
      await inDatabase(options, (store) =>
        store.createStatusPage({ id, orgId, settings, nowMs: systemEnvironment.nowMs() }),
      )
      present(write, options.json, { id, slug }, id)
    })
}

function addUpdate(statusPage: Command, write: Write): void {
  const sections: WantedSection[] = []
  const command = statusPage
    .command('update')
    .description('change a status page; --service options replace all sections')
  addPageOptions(command, sections, false)
    .requiredOption('--id <id>', 'id of the page, from "status-page list"')
    .option('--hide-incident <display-id...>', 'incidents to hide, such as INC-42')
    .option('--show-incident <display-id...>', 'incidents to show again')
    .action(async (options: PageOptions & { id: string }) => {
      const change = { ...changeOf(options), ...(sections.length === 0 ? {} : { sections }) }
      if (Object.keys(change).length === 0) throw new Error('give at least one setting to change')
      const page = await inDatabase(options, (store) => store.changeStatusPage(options.id, change))
      present(write, options.json, page, pageText(page))
    })
}

/** Adds the settings of a page. `--section` and `--service` fill `sections` in the given order. */
function addPageOptions(command: Command, sections: WantedSection[], isNew: boolean): Command {
  const slug = new Option('--slug <slug>', 'last part of its address: /s/<slug>').argParser(slugOption)
  const title = new Option('--title <title>', 'title of the page').argParser(
    readableOption(PAGE_TITLE_CHARS_MAX),
  )
  return addDatabase(command)
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
  const { slug, title, text, visibility, incidents, hideIncident, showIncident } = options
  return {
    ...(slug === undefined ? {} : { slug }),
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { text }),
    ...(visibility === undefined ? {} : { isPublic: visibility === 'public' }),
    ...(incidents === undefined ? {} : { incidentsShown: incidents }),
    ...(hideIncident === undefined ? {} : { hide: hideIncident }),
    ...(showIncident === undefined ? {} : { show: showIncident }),
  }
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

function pageText(page: StatusPage): string {
  const { id, slug, title, isPublic, incidentsShown, hosts, hiddenIncidents } = page
  const facts = [
    ['id', id],
    ['slug', slug],
    ['title', title],
    ['visibility', isPublic ? 'public' : 'hidden'],
    ['incidents', incidentsShown],
    ['hosts', hosts.join(', ') || '-'],
    ['hidden incidents', hiddenIncidents.join(', ') || '-'],
  ]
  const rows = page.sections.flatMap(({ name, components }) =>
    components.map((one) => [
      ...[one.id, one.serviceId, name || '-', one.name],
      ...[one.showsUptime ? 'shown' : 'hidden', one.text || '-'],
    ]),
  )
  const components = table(['COMPONENT', 'SERVICE', 'SECTION', 'NAME', 'UPTIME', 'TEXT'], rows)
  return `${table(['PAGE', ''], facts)}\n\n${components}`
}
