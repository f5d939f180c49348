import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { ApiError } from '../../../../api/contract/apiError.ts'
import type { Actor } from '../../../domain/accounts/actor.ts'
import { timestamp } from '../../../domain/environment.ts'
import {
  COMPONENTS_MAX,
  HOSTS_MAX,
  PAGES_MAX,
  type StatusPage,
  type StatusPageChange,
  type WantedSection,
} from '../../../domain/statusPages/definition.ts'
import { noOrg } from '../../shared/noOrg.ts'
import type { StatusPageStore } from '../../statusPageStore.ts'
import type { NoteAct } from '../changes/audit.ts'
import type { Mutations } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'
import { preparePageRead } from './pageRows.ts'

/** Dependencies that status pages share with the rest of the store. */
interface Sharing {
  readonly commits: Mutations
  readonly note: NoteAct
  readonly nowMs: () => number
}

/** Status pages in SQLite: administration. Each change leaves an audit entry. */
export function sqliteStatusPages(
  { reader, writer }: Connections,
  { commits, note, nowMs }: Sharing,
): StatusPageStore {
  const shown = preparePageRead(reader)
  const current = preparePageRead(writer)
  const change = prepareChange(writer)
  const known = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const knownForWrite = writer.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const count = writer.prepare<[string], number>('SELECT count(*) FROM status_pages WHERE org_id = ?').pluck()
  const insert = writer.prepare(
    `INSERT INTO status_pages (id, org_id, slug, title, text, is_public, incidents_shown, created_at, generation)
     VALUES (?, ?, ?, ?, '', 1, 'people', ?, 0)`,
  )
  const remove = writer.prepare('DELETE FROM status_pages WHERE id = ?')
  const bind = writer.prepare('INSERT INTO status_hosts (host, page_id) VALUES (?, ?)')
  const unbind = writer.prepare('DELETE FROM status_hosts WHERE host = ? AND page_id = ?')
  const found = (page: StatusPage | undefined, id: string): StatusPage => {
    if (page === undefined) throw new ApiError('not_found', `there is no status page ${id}`)
    return page
  }
  const audit = (
    { id, orgId }: StatusPage,
    act: Act,
    detail: Readonly<Record<string, unknown>>,
    by: Actor = { kind: 'cli' },
  ): void => note({ orgId, targetId: id, detail, nowMs: nowMs(), by, action: `status_page.${act}` })
  const changed = (id: string, work: (page: StatusPage) => void): Promise<StatusPage> =>
    commits.run(() => {
      work(found(current.one('id', id), id))
      return found(current.one('id', id), id)
    })
  const assertSlugFree = (slug: string | undefined, id: string): void => {
    if (slug === undefined || (current.one('slug', slug)?.id ?? id) === id) return
    throw new ApiError('invalid', `the slug ${slug} is taken: choose another one`)
  }
  return {
    createStatusPage: ({ id, orgId, nowMs: createdMs, settings, by }) =>
      commits.run(() => {
        if (knownForWrite.get(orgId) === undefined) throw noOrg(orgId)
        if ((count.get(orgId) ?? 0) >= PAGES_MAX) {
          throw new ApiError('invalid', `an organisation has at most ${PAGES_MAX} status pages`)
        }
        assertSlugFree(settings.slug, id)
        insert.run(id, orgId, settings.slug, settings.title, timestamp(createdMs))
        change(found(current.one('id', id), id), settings)
        const page = found(current.one('id', id), id)
        audit(page, 'create', { slug: page.slug }, by)
        return page
      }),
    listStatusPages: async (orgId) => {
      if (known.get(orgId) === undefined) throw noOrg(orgId)
      return shown.ofOrg(orgId)
    },
    getStatusPage: async (id) => found(shown.one('id', id), id),
    changeStatusPage: (id, wanted, edit) =>
      changed(id, (page) => {
        if (edit?.generation !== undefined && edit.generation !== page.generation) {
          throw new ApiError('conflict', 'the page was changed meanwhile')
        }
        assertSlugFree(wanted.slug, id)
        change(page, wanted)
        audit(page, 'update', { settings: Object.keys(wanted) }, edit?.by)
      }),
    deleteStatusPage: (id, by) =>
      commits.run(() => {
        const page = found(current.one('id', id), id)
        remove.run(id)
        audit(page, 'delete', { slug: page.slug }, by)
      }),
    bindStatusHost: (id, host) =>
      changed(id, (page) => {
        const bound = current.one('host', host)
        if (bound?.id === id) return
        if (bound !== undefined) {
          throw new ApiError('invalid', `${host} is bound to the page ${bound.id}: unbind it there first`)
        }
        if (page.hosts.length >= HOSTS_MAX) {
          throw new ApiError('invalid', `a page has at most ${HOSTS_MAX} hosts`)
        }
        bind.run(host, id)
        audit(page, 'bind_host', { host })
      }),
    unbindStatusHost: (id, host) =>
      changed(id, (page) => {
        if (unbind.run(host, id).changes === 0) {
          throw new ApiError('not_found', `${host} is not bound to the page ${id}`)
        }
        audit(page, 'unbind_host', { host })
      }),
  }
}

/** What is done to a page. */
type Act = 'create' | 'update' | 'delete' | 'bind_host' | 'unbind_host'

type Change = (page: StatusPage, change: StatusPageChange) => void

/** Writes a change of a page in the caller's transaction. */
function prepareChange(writer: Database): Change {
  const update = writer.prepare(
    `UPDATE status_pages SET slug = ?, title = ?, text = ?, is_public = ?, incidents_shown = ?,
       generation = generation + 1 WHERE id = ?`,
  )
  const incident = writer
    .prepare<[string, number], string>(
      "SELECT id FROM incidents WHERE org_id = ? AND number = ? AND kind = 'incident'",
    )
    .pluck()
  const hide = writer.prepare('INSERT OR IGNORE INTO status_hidden (page_id, incident_id) VALUES (?, ?)')
  const show = writer.prepare('DELETE FROM status_hidden WHERE page_id = ? AND incident_id = ?')
  const replaceSections = prepareSections(writer)
  const incidentOf = (orgId: string, displayId: string): string => {
    const id = incident.get(orgId, Number(/^INC-(\d{1,15})$/i.exec(displayId)?.[1] ?? 0))
    if (id === undefined) throw new ApiError('not_found', `the organisation has no incident ${displayId}`)
    return id
  }
  return (page, change) => {
    const { slug, title, text, isPublic, incidentsShown } = { ...page, ...change }
    update.run(slug, title, text, isPublic ? 1 : 0, incidentsShown, page.id)
    for (const displayId of change.hide ?? []) hide.run(page.id, incidentOf(page.orgId, displayId))
    for (const displayId of change.show ?? []) show.run(page.id, incidentOf(page.orgId, displayId))
    if (change.sections !== undefined) replaceSections(page, change.sections)
  }
}

/** Replaces the sections of a page; a service that stays keeps its component id, which badges name. */
function prepareSections(writer: Database) {
  const remove = writer.prepare('DELETE FROM status_sections WHERE page_id = ?')
  const insertSection = writer.prepare(
    'INSERT INTO status_sections (id, page_id, place, name) VALUES (?, ?, ?, ?)',
  )
  const insertComponent = writer.prepare(
    `INSERT INTO status_components (id, section_id, place, service_id, public_name, text, shows_uptime)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const nameOf = writer
    .prepare<[string, string], string>(
      "SELECT response ->> '$.name' FROM services WHERE id = ? AND org_id = ?",
    )
    .pluck()
  return ({ id, orgId, sections }: StatusPage, wanted: readonly WantedSection[]): void => {
    assertServices(wanted)
    const before = new Map(
      sections.flatMap(({ components }) => components.map((one) => [one.serviceId, one] as const)),
    )
    remove.run(id)
    for (const [place, section] of wanted.entries()) {
      const sectionId = randomUUID()
      insertSection.run(sectionId, id, place, section.name)
      for (const [index, wantedOne] of section.components.entries()) {
        const { serviceId } = wantedOne
        const serviceName = nameOf.get(serviceId, orgId)
        if (serviceName === undefined) {
          throw new ApiError('not_found', `the organisation has no service ${serviceId}`)
        }
        const known = before.get(serviceId)
        const name = wantedOne.name ?? known?.name ?? serviceName
        const text = wantedOne.text ?? known?.text ?? ''
        const showsUptime = (wantedOne.showsUptime ?? known?.showsUptime ?? true) ? 1 : 0
        insertComponent.run(known?.id ?? randomUUID(), sectionId, index, serviceId, name, text, showsUptime)
      }
    }
  }
}

function assertServices(wanted: readonly WantedSection[]): void {
  const ids = wanted.flatMap(({ components }) => components.map(({ serviceId }) => serviceId))
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new ApiError('invalid', `the service ${twice} is listed twice`)
  if (ids.length > COMPONENTS_MAX) {
    throw new ApiError('invalid', `a page lists at most ${COMPONENTS_MAX} services`)
  }
}
