import { SHOWN_STATES, type ShownState } from '../../../web/stateShapes.ts'
import type { ListRow } from './serviceRows.ts'

/** Services per page. */
export const PAGE_COUNT = 100
/** Sort orders of the list, with their names. */
export const SORTS = [
  ['attention', 'Needs attention'],
  ['name', 'Name'],
  ['latency', 'Slowest'],
] as const
type Sort = (typeof SORTS)[number][0]

/** States ordered by urgency. */
const ORDER: readonly ShownState[] = ['down', 'degraded', 'unknown', 'maintenance', 'operational', 'paused']

/** Query of the list. */
export interface ServiceQuery {
  readonly state: ShownState | undefined
  /** '' for everything. */
  readonly q: string
  readonly sort: Sort
  readonly page: number
}

/** Parses the query of the list; ignores unknown values. Pure. */
export function readServiceQuery(query: URLSearchParams): ServiceQuery {
  return {
    state: SHOWN_STATES.find((state) => state === query.get('state')),
    q: (query.get('q') ?? '').trim(),
    sort: SORTS.find(([sort]) => sort === query.get('sort'))?.[0] ?? 'attention',
    page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
  }
}

/** `query` with `changes` as a URL query. Pure. */
export function serviceQueryText(query: ServiceQuery, changes: Partial<ServiceQuery> = {}): string {
  const { state, q, sort, page } = { ...query, ...changes }
  const fields = new URLSearchParams()
  if (state !== undefined) fields.set('state', state)
  if (q !== '') fields.set('q', q)
  if (sort !== 'attention') fields.set('sort', sort)
  if (page > 1) fields.set('page', String(page))
  return fields.size === 0 ? '' : `?${fields}`
}

/** The rows that match `query`, in its order; `rows` are ordered by name. Pure. */
export function matchingRows(rows: readonly ListRow[], { state, q, sort }: ServiceQuery): readonly ListRow[] {
  const searched = q.toLowerCase()
  const found = rows.filter(
    (row) =>
      (state === undefined || row.state === state) &&
      (searched === '' || row.service.searched.includes(searched)),
  )
  switch (sort) {
    case 'name':
      return found
    case 'latency':
      return found.toSorted((a, b) => (b.p95Ms ?? -1) - (a.p95Ms ?? -1))
    case 'attention':
      return ORDER.flatMap((one) => found.filter((row) => row.state === one))
  }
}
