import { ApiError } from '../../../api/contract/apiError.ts'
import { SECTIONS, SEVERITIES } from '../../../api/contract/incidentTerms.ts'
import { isLongerThan, tooLong } from '../../../api/contract/text.ts'
import type { IncidentFilter } from '../../store/store.ts'

/** Default and maximum page size; larger values are reduced to the maximum. Gap G8. */
export const LIMIT_DEFAULT = 20
export const LIMIT_MAX = 100
/** Maximum length of a search text (code points). Gap G18. */
export const SEARCH_CHARS_MAX = 200

const INT64_MAX = 9_223_372_036_854_775_807n
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The filter of GET /v1/incidents. Throws `invalid`. Contract: GET /v1/incidents query parameters; Gap G7, Gap G8. */
export function readIncidentQuery(query: URLSearchParams): IncidentFilter {
  const section = oneOf(SECTIONS, 'section', single(query, 'section') ?? '')
  const q = single(query, 'q') ?? ''
  if (isLongerThan(q, SEARCH_CHARS_MAX)) {
    throw new ApiError('invalid', `q: ${tooLong(SEARCH_CHARS_MAX)}`)
  }
  const severity = single(query, 'severity')
  const serviceIds = query.getAll('service_id')
  if (!serviceIds.every((id) => UUID.test(id))) {
    throw new ApiError('invalid', 'service_id: must be a UUID')
  }
  return {
    section,
    q: q === '' ? undefined : q,
    severity: severity === undefined ? undefined : oneOf(SEVERITIES, 'severity', severity),
    serviceIds: serviceIds.map((id) => id.toLowerCase()),
    page: positive(query, 'page', 1),
    limit: Math.min(positive(query, 'limit', LIMIT_DEFAULT), LIMIT_MAX),
  }
}

function single(query: URLSearchParams, name: string): string | undefined {
  const [first, ...others] = query.getAll(name)
  if (others.length > 0) throw new ApiError('invalid', `${name}: must be given once`)
  return first
}

function oneOf<Value extends string>(values: readonly Value[], name: string, text: string): Value {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw new ApiError('invalid', `${name}: must be one of ${values.join(', ')}`)
  return value
}

function positive(query: URLSearchParams, name: string, whenAbsent: number): number {
  const text = single(query, name)
  if (text === undefined) return whenAbsent
  const isInt64 = /^\d{1,19}$/.test(text) && BigInt(text) >= 1n && BigInt(text) <= INT64_MAX
  if (!isInt64) throw new ApiError('invalid', `${name}: must be a whole number from 1`)
  // Beyond the largest exact number every page is empty and every limit is reduced, so that number gives the same
  // result.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}
