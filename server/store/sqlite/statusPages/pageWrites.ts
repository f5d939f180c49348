import type { Database } from 'better-sqlite3'
import { timestamp } from '../../../domain/environment.ts'
import type { StatusPage, StatusPageChange, WantedSection } from '../../../domain/statusPages/definition.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import {
  assertMayAddHost,
  assertMayAddPage,
  assertUnchanged,
  hostBound,
  hostUnbound,
  incidentNotFound,
  numberIn,
  pageAction,
  pageNotFound,
  sectionRows,
  slugTaken,
  wantedServices,
} from '../../shared/pageRules.ts'
import type { StatusPageStore } from '../../statusPageStore.ts'
import type { RecordAction } from '../changes/audit.ts'
import type { Mutations } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'
import { preparePageRead } from './pageRows.ts'

/** Dependencies that status pages share with the rest of the store. */
interface Sharing {
  readonly commits: Mutations
  readonly note: RecordAction
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
    if (page === undefined) throw pageNotFound(id)
    return page
  }
  const audit = (
    verb: Parameters<typeof pageAction>[0],
    audited: Omit<Parameters<typeof pageAction>[1], 'nowMs'>,
  ): void => note(pageAction(verb, { ...audited, nowMs: nowMs() }))
  const changed = (id: string, work: (page: StatusPage) => void): Promise<StatusPage> =>
    commits.run(() => {
      work(found(current.one('id', id), id))
      return found(current.one('id', id), id)
    })
  const assertSlugFree = (slug: string | undefined, id: string): void => {
    if (slug === undefined || (current.one('slug', slug)?.id ?? id) === id) return
    throw slugTaken(slug)
  }
  return {
    createStatusPage: ({ id, orgId, nowMs: createdMs, settings, by }) =>
      commits.run(() => {
        if (knownForWrite.get(orgId) === undefined) throw orgNotFound(orgId)
        assertMayAddPage(count.get(orgId) ?? 0)
        assertSlugFree(settings.slug, id)
        insert.run(id, orgId, settings.slug, settings.title, timestamp(createdMs))
        change(found(current.one('id', id), id), settings)
        const page = found(current.one('id', id), id)
        audit('create', { page, by, detail: { slug: page.slug } })
        return page
      }),
    listStatusPages: async (orgId) => {
      if (known.get(orgId) === undefined) throw orgNotFound(orgId)
      return shown.ofOrg(orgId)
    },
    getStatusPage: async (id) => found(shown.one('id', id), id),
    changeStatusPage: (id, wanted, edit) =>
      changed(id, (page) => {
        assertUnchanged(page, edit)
        assertSlugFree(wanted.slug, id)
        change(page, wanted)
        audit('update', { page, by: edit?.by, detail: { settings: Object.keys(wanted) } })
      }),
    deleteStatusPage: (id, by) =>
      commits.run(() => {
        const page = found(current.one('id', id), id)
        remove.run(id)
        audit('delete', { page, by, detail: { slug: page.slug } })
      }),
    bindStatusHost: (id, host) =>
      changed(id, (page) => {
        const bound = current.one('host', host)
        if (bound?.id === id) return
        if (bound !== undefined) throw hostBound(host, bound.id)
        assertMayAddHost(page)
        bind.run(host, id)
        audit('bind_host', { page, detail: { host } })
      }),
    unbindStatusHost: (id, host) =>
      changed(id, (page) => {
        if (unbind.run(host, id).changes === 0) throw hostUnbound(host, id)
        audit('unbind_host', { page, detail: { host } })
      }),
  }
}

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
    const id = incident.get(orgId, numberIn(displayId))
    if (id === undefined) throw incidentNotFound(displayId)
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

/** Replaces the sections of a page; a service that stays keeps its component id, which badge URLs contain. */
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
  return (page: StatusPage, wanted: readonly WantedSection[]): void => {
    wantedServices(wanted)
    const rows = sectionRows(page, wanted, (serviceId) => nameOf.get(serviceId, page.orgId))
    remove.run(page.id)
    for (const [place, section] of rows.entries()) {
      insertSection.run(section.id, page.id, place, section.name)
      for (const [index, { id, serviceId, name, text, showsUptime }] of section.components.entries()) {
        insertComponent.run(id, section.id, index, serviceId, name, text, showsUptime ? 1 : 0)
      }
    }
  }
}
