import { SHOWN_STATES, type ShownState } from '../../../web/stateShapes.ts'
import type { ServiceRow } from './serviceRows.ts'

/** Services of a page. */
export const PAGE_COUNT = 100
/** Orders of the list, with their names. */
export const SORTS = [
  ['attention', 'Needs attention'],
  ['name', 'Name'],
  ['latency', 'Slowest'],
] as const
type Sort = (typeof SORTS)[number][0]

/** What needs attention comes first. */
const ORDER: readonly ShownState[] = ['down', 'degraded', 'unknown', 'maintenance', 'operational', 'paused']

/** What the address of the list asks for. */
export interface ServiceQuery {
  readonly state: ShownState | undefined
  /** '' for everything. */
  readonly q: string
  readonly sort: Sort
  readonly page: number
}

/** Reads the address of the list; what it does not understand is left out. Pure. */
export function readServiceQuery(query: URLSearchParams): ServiceQuery {
  return {
    state: SHOWN_STATES.find((state) => state === query.get('state')),
    q: (query.get('q') ?? '').trim(),
    sort: SORTS.find(([sort]) => sort === query.get('sort'))?.[0] ?? 'attention',
    page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
  }
}

/** `query` as an address, with `changes`. Pure. */
export function serviceQueryText(query: ServiceQuery, changes: Partial<ServiceQuery> = {}): string {
  const { state, q, sort, page } = { ...query, ...changes }
  const fields = new URLSearchParams()
  if (state !== undefined) fields.set('state', state)
  if (q !== '') fields.set('q', q)
  if (sort !== 'attention') fields.set('sort', sort)
  if (page > 1) fields.set('page', String(page))
  return fields.size === 0 ? '' : `?${fields}`
}

/** The rows that match `query`, in its order. Pure. */
export function matchingRows(
  rows: readonly ServiceRow[],
  { state, q, sort }: ServiceQuery,
): readonly ServiceRow[] {
  const wanted = q.toLowerCase()
  const found = rows.filter((row) => (state === undefined || row.state === state) && hasText(row, wanted))
  const keyed = found.map((row) => ({ row, name: row.service.name.toLowerCase() }))
  keyed.sort((a, b) => ranked(a.row, b.row, sort) || compareText(a.name, b.name))
  return keyed.map(({ row }) => row)
}

function ranked(a: ServiceRow, b: ServiceRow, sort: Sort): number {
  switch (sort) {
    case 'name':
      return 0
    case 'latency':
      return (b.now?.p95Ms ?? -1) - (a.now?.p95Ms ?? -1)
    case 'attention':
      return ORDER.indexOf(a.state) - ORDER.indexOf(b.state)
  }
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Whether the name, or an address or a name of an endpoint, contains `wanted`, in lower case. */
function hasText({ service }: ServiceRow, wanted: string): boolean {
  if (wanted === '' || service.name.toLowerCase().includes(wanted)) return true
  return service.endpoints.some(
    ({ url, name }) =>
      (name ?? '').toLowerCase().includes(wanted) || hostOf(url).toLowerCase().includes(wanted),
  )
}

/** The host of a URL: its path and query may hold a token. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
