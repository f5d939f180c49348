import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import {
  HOSTS_MAX,
  PAGES_MAX,
  type StatusPage,
  type StatusPageChange,
  type WantedSection,
} from '../../domain/statusPages/definition.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { assertOrg } from '../scripts/orgScripts.ts'
import { count, row, rows, run, type Script, type Scripts } from '../scripts/script.ts'
import type { AuditedAction } from '../shared/auditedAction.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'
import type { PageEdit, PublishedStore, StatusPageStore } from '../statusPageStore.ts'
import { readPage, readPages } from './pageRows.ts'
import { sectionRows, wantedServices } from './sectionRows.ts'

/** An action on a page for the audit log. */
interface PageAction {
  readonly page: StatusPage
  /** The command line when absent. */
  readonly by: AuditedAction['by'] | undefined
  readonly detail: Readonly<Record<string, unknown>>
}

/** Status pages without their incidents. Each change leaves an audit entry. */
export function statusPages({ read, withOrgLocked }: Scripts, nowMs: () => number) {
  /** Runs `work` in a transaction that locks the organisation of the page. */
  const change = async <Result>(id: string, work: (page: StatusPage) => Script<Result>): Promise<Result> => {
    const { orgId } = await read(() => found(id))
    return await withOrgLocked(orgId, pageNotFound(id), function* () {
      return yield* work(yield* found(id))
    })
  }
  const note = (verb: string, { page, by = { kind: 'cli' }, detail }: PageAction): Script<void> => {
    const action = `status_page.${verb}`
    return recordAction({ orgId: page.orgId, by, action, targetId: page.id, nowMs: nowMs(), detail })
  }
  return {
    createStatusPage: ({ id, orgId, nowMs: createdMs, settings, by }) =>
      withOrgLocked(orgId, orgNotFound(orgId), function* () {
        yield* assertMayAddPage(orgId)
        yield* assertSlugFree(settings.slug)
        yield* run(
          `INSERT INTO status_pages (id, org_id, slug, title, text, is_public, incidents_shown, created_at, generation)
           VALUES ($1, $2, $3, $4, '', $5, 'people', $6, 0)`,
          [id, orgId, settings.slug, settings.title, true, timestamp(createdMs)],
        )
        yield* writeChange(yield* found(id), settings)
        const page = yield* found(id)
        yield* note('create', { page, by, detail: { slug: page.slug } })
        return page
      }),
    listStatusPages: (orgId) =>
      read(function* () {
        yield* assertOrg(orgId)
        return yield* readPages('org', orgId)
      }),
    getStatusPage: (id) => read(() => found(id)),
    publishedPage: async (address) => {
      const value = address.kind === 'slug' ? address.slug : address.host
      const page = await read(() => readPage(address.kind, value))
      return page?.isPublic === true ? page : undefined
    },
    changeStatusPage: (id, wanted, edit) =>
      change(id, function* (page) {
        assertUnchanged(page, edit)
        yield* writeChange(page, wanted)
        yield* note('update', { page, by: edit?.by, detail: { settings: Object.keys(wanted) } })
        return yield* found(id)
      }),
    deleteStatusPage: (id, by) =>
      change(id, function* (page) {
        yield* run('DELETE FROM status_pages WHERE id = $1', [id])
        yield* note('delete', { page, by, detail: { slug: page.slug } })
      }),
    bindStatusHost: (id, host) =>
      change(id, function* (page) {
        if (page.hosts.includes(host)) return page
        if (page.hosts.length >= HOSTS_MAX)
          throw new ApiError('invalid', `a page has at most ${HOSTS_MAX} hosts`)
        const text = `INSERT INTO status_hosts (host, page_id) VALUES ($1, $2)
          ON CONFLICT (host) DO NOTHING RETURNING host`
        if ((yield* row(text, [host, id])) === undefined) {
          const bound = yield* readPage('host', host)
          throw new ApiError('invalid', `${host} is bound to the page ${bound?.id}: unbind it there first`)
        }
        yield* note('bind_host', { page, by: undefined, detail: { host } })
        return yield* found(id)
      }),
    unbindStatusHost: (id, host) =>
      change(id, function* (page) {
        const text = 'DELETE FROM status_hosts WHERE host = $1 AND page_id = $2 RETURNING host'
        if ((yield* row(text, [host, id])) === undefined)
          throw new ApiError('not_found', `${host} is not bound to the page ${id}`)
        yield* note('unbind_host', { page, by: undefined, detail: { host } })
        return yield* found(id)
      }),
  } satisfies Partial<StatusPageStore & PublishedStore>
}

function* found(id: string): Script<StatusPage> {
  const page = yield* readPage('id', uuidOrNull(id))
  if (page === undefined) throw pageNotFound(id)
  return page
}

function pageNotFound(id: string): ApiError {
  return new ApiError(
    'not_found',
    `there is no status page ${id}: "pharos-server status-page list" shows them`,
  )
}

function* assertMayAddPage(orgId: string): Script<void> {
  if ((yield* count('status_pages WHERE org_id = $1', [orgId])) < PAGES_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${PAGES_MAX} status pages`)
}

/** Throws `conflict` when the page has changed since `edit` was made. */
function assertUnchanged({ generation }: StatusPage, edit: PageEdit | undefined): void {
  if (edit?.generation === undefined || edit.generation === generation) return
  throw new ApiError('conflict', 'the page has changed since it was read')
}

/** Throws `invalid` when a page has the slug, which is then reserved until the end of the transaction. */
function* assertSlugFree(slug: string): Script<void> {
  yield* run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`status page ${slug}`])
  if ((yield* readPage('slug', slug)) !== undefined)
    throw new ApiError('invalid', `the slug ${slug} is taken: choose another one`)
}

/** Writes a change of a page, whose organisation the caller has locked. */
function* writeChange(page: StatusPage, change: StatusPageChange): Script<void> {
  const { slug, title, text, isPublic, incidentsShown } = { ...page, ...change }
  if (slug !== page.slug) yield* assertSlugFree(slug)
  yield* run(
    `UPDATE status_pages SET slug = $2, title = $3, text = $4, is_public = $5, incidents_shown = $6,
       generation = generation + 1 WHERE id = $1`,
    [page.id, slug, title, text, isPublic, incidentsShown],
  )
  for (const displayId of change.hide ?? []) {
    const hide = 'INSERT INTO status_hidden (page_id, incident_id) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    yield* run(hide, [page.id, yield* incidentId(page.orgId, displayId)])
  }
  for (const displayId of change.show ?? []) {
    const show = 'DELETE FROM status_hidden WHERE page_id = $1 AND incident_id = $2'
    yield* run(show, [page.id, yield* incidentId(page.orgId, displayId)])
  }
  if (change.sections !== undefined) yield* writeSections(page, change.sections)
}

function* incidentId(orgId: string, displayId: string): Script<string> {
  // No incident has the number 0.
  const number = Number(/^INC-(\d{1,15})$/i.exec(displayId)?.[1] ?? 0)
  const text = "SELECT id FROM incidents WHERE org_id = $1 AND number = $2::bigint AND kind = 'incident'"
  const incident = yield* row<{ id: string }>(text, [orgId, number])
  if (incident === undefined) throw new ApiError('not_found', `the organisation has no incident ${displayId}`)
  return incident.id
}

function* writeSections(page: StatusPage, wanted: readonly WantedSection[]): Script<void> {
  const services = yield* rows<{ id: string; name: string }>(
    `SELECT id, ${definitionJson('response')} ->> 'name' AS name FROM services
     WHERE org_id = $1 AND id IN (SELECT value::uuid FROM json_array_elements_text($2::json))`,
    [page.orgId, JSON.stringify(uuidsIn(wantedServices(wanted)))],
  )
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const sections = sectionRows(page, wanted, (serviceId) => names.get(serviceId))
  yield* run('DELETE FROM status_sections WHERE page_id = $1', [page.id])
  yield* run(
    `INSERT INTO status_sections (id, page_id, place, name)
     SELECT (value ->> 'id')::uuid, $1, (value ->> 'place')::integer, value ->> 'name'
     FROM json_array_elements($2::json)`,
    [page.id, JSON.stringify(sections.map(({ id, name }, place) => ({ id, name, place })))],
  )
  const components = sections.flatMap(({ id, components: own }) =>
    own.map((component, place) => ({ ...component, place, sectionId: id })),
  )
  yield* run(
    `INSERT INTO status_components (id, section_id, place, service_id, public_name, text, shows_uptime)
     SELECT (value ->> 'id')::uuid, (value ->> 'sectionId')::uuid, (value ->> 'place')::integer,
       (value ->> 'serviceId')::uuid, value ->> 'name', value ->> 'text', (value ->> 'showsUptime')::boolean
     FROM json_array_elements($1::json)`,
    [JSON.stringify(components)],
  )
}
