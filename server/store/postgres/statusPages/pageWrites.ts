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
import { uuidOrNull, uuidsIn } from '../../shared/uuid.ts'
import type { StatusPageStore } from '../../statusPageStore.ts'
import { countOf, rowOf, type Sql } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'
import { assertOrg } from '../writes/ownership.ts'
import type { StoreParts } from '../writes/storeParts.ts'
import { readPage, readPages } from './pageRows.ts'

/** Status pages in PostgreSQL: administration. Each change leaves an audit entry. */
export function postgresStatusPages({ pools: { read }, queues, nowMs }: StoreParts): StatusPageStore {
  async function found(sql: Sql, id: string): Promise<StatusPage> {
    const page = await readPage(sql, 'id', uuidOrNull(id))
    if (page === undefined) throw pageNotFound(id)
    return page
  }
  /** Runs `work` in a transaction that locks the organisation of the page. */
  async function change<Result>(id: string, work: (sql: Sql, page: StatusPage) => Promise<Result>) {
    const { orgId } = await found(read, id)
    return await queues.withOrgLocked(orgId, pageNotFound(id), async (sql) => work(sql, await found(sql, id)))
  }
  const note = (
    sql: Sql,
    verb: Parameters<typeof pageAction>[0],
    audited: Omit<Parameters<typeof pageAction>[1], 'nowMs'>,
  ) => recordAction(sql, pageAction(verb, { ...audited, nowMs: nowMs() }))
  return {
    createStatusPage: ({ id, orgId, nowMs: createdMs, settings, by }) =>
      queues.withOrgLocked(orgId, orgNotFound(orgId), async (sql) => {
        assertMayAddPage(await countOf(sql, 'status_pages WHERE org_id = $1', [orgId]))
        await assertSlugFree(sql, settings.slug)
        await sql.rows(
          `INSERT INTO status_pages (id, org_id, slug, title, text, is_public, incidents_shown, created_at, generation)
           VALUES ($1, $2, $3, $4, '', true, 'people', $5, 0)`,
          [id, orgId, settings.slug, settings.title, timestamp(createdMs)],
        )
        await writeChange(sql, await found(sql, id), settings)
        const page = await found(sql, id)
        await note(sql, 'create', { page, by, detail: { slug: page.slug } })
        return page
      }),
    listStatusPages: async (orgId) => {
      const id = uuidOrNull(orgId)
      await assertOrg(read, orgId)
      return await readPages(read, 'org', id)
    },
    getStatusPage: (id) => found(read, id),
    changeStatusPage: (id, wanted, edit) =>
      change(id, async (sql, page) => {
        assertUnchanged(page, edit)
        await writeChange(sql, page, wanted)
        await note(sql, 'update', { page, by: edit?.by, detail: { settings: Object.keys(wanted) } })
        return await found(sql, id)
      }),
    deleteStatusPage: (id, by) =>
      change(id, async (sql, page) => {
        await sql.rows('DELETE FROM status_pages WHERE id = $1', [id])
        await note(sql, 'delete', { page, by, detail: { slug: page.slug } })
      }),
    bindStatusHost: (id, host) =>
      change(id, async (sql, page) => {
        if (page.hosts.includes(host)) return page
        assertMayAddHost(page)
        const insert = `INSERT INTO status_hosts (host, page_id) VALUES ($1, $2)
          ON CONFLICT (host) DO NOTHING RETURNING host`
        if ((await sql.rows(insert, [host, id])).length === 0) {
          throw hostBound(host, (await readPage(sql, 'host', host))?.id ?? '')
        }
        await note(sql, 'bind_host', { page, detail: { host } })
        return await found(sql, id)
      }),
    unbindStatusHost: (id, host) =>
      change(id, async (sql, page) => {
        const removed = await sql.rows(
          'DELETE FROM status_hosts WHERE host = $1 AND page_id = $2 RETURNING host',
          [...[host, id]],
        )
        if (removed.length === 0) throw hostUnbound(host, id)
        await note(sql, 'unbind_host', { page, detail: { host } })
        return await found(sql, id)
      }),
  }
}

/** Writes a change of a page. The caller has locked its organisation. */
async function writeChange(sql: Sql, page: StatusPage, change: StatusPageChange): Promise<void> {
  const { slug, title, text, isPublic, incidentsShown } = { ...page, ...change }
  if (slug !== page.slug) await assertSlugFree(sql, slug)
  await sql.rows(
    `UPDATE status_pages SET slug = $2, title = $3, text = $4, is_public = $5, incidents_shown = $6,
       generation = generation + 1 WHERE id = $1`,
    [page.id, slug, title, text, isPublic, incidentsShown],
  )
  for (const displayId of change.hide ?? []) {
    const hide = 'INSERT INTO status_hidden (page_id, incident_id) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    await sql.rows(hide, [page.id, await incidentId(sql, page.orgId, displayId)])
  }
  for (const displayId of change.show ?? []) {
    const show = 'DELETE FROM status_hidden WHERE page_id = $1 AND incident_id = $2'
    await sql.rows(show, [page.id, await incidentId(sql, page.orgId, displayId)])
  }
  if (change.sections !== undefined) await writeSections(sql, page, change.sections)
}

/** Rejects with `invalid` when a page has the slug, which is then reserved until the end of the transaction. */
async function assertSlugFree(sql: Sql, slug: string): Promise<void> {
  await sql.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`status page ${slug}`])
  if ((await readPage(sql, 'slug', slug)) !== undefined) throw slugTaken(slug)
}

async function incidentId(sql: Sql, orgId: string, displayId: string): Promise<string> {
  const text = "SELECT id FROM incidents WHERE org_id = $1 AND number = $2::bigint AND kind = 'incident'"
  const incident = await rowOf<{ id: string }>(sql, text, [orgId, numberIn(displayId)])
  if (incident === undefined) throw incidentNotFound(displayId)
  return incident.id
}

async function writeSections(sql: Sql, page: StatusPage, wanted: readonly WantedSection[]): Promise<void> {
  const services = await sql.rows<{ id: string; name: string }>(
    `SELECT id, response::json ->> 'name' AS name FROM services WHERE org_id = $1 AND id = ANY($2::uuid[])`,
    [page.orgId, uuidsIn(wantedServices(wanted))],
  )
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const rows = sectionRows(page, wanted, (serviceId) => names.get(serviceId))
  await sql.rows('DELETE FROM status_sections WHERE page_id = $1', [page.id])
  await sql.rows(
    `INSERT INTO status_sections (id, page_id, place, name)
     SELECT u.id, $1, u.n - 1, u.name FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS u(id, name, n)`,
    [page.id, rows.map(({ id }) => id), rows.map(({ name }) => name)],
  )
  const components = rows.flatMap(({ id, components: own }) =>
    own.map((component, place) => ({ ...component, place, sectionId: id })),
  )
  await sql.rows(
    `INSERT INTO status_components (id, section_id, place, service_id, public_name, text, shows_uptime)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::text[], $6::text[], $7::boolean[])`,
    [
      components.map(({ id }) => id),
      components.map(({ sectionId }) => sectionId),
      components.map(({ place }) => place),
      components.map(({ serviceId }) => serviceId),
      components.map(({ name }) => name),
      components.map(({ text }) => text),
      components.map(({ showsUptime }) => showsUptime),
    ],
  )
}
