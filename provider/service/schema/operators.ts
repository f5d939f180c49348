/** One table for both directions: our name of each operator, kind and phase, and the contract's. */

export const INTEGER_OPERATORS = {
  eq: 'Eq',
  ne: 'NotEq',
  gt: 'GreaterThan',
  gte: 'GreaterOrEqual',
  lt: 'LessThan',
  lte: 'LessOrEqual',
  between: 'Between',
  one_of: 'OneOf',
} as const

export const DURATION_OPERATORS = { lt: 'LessThan', lte: 'LessOrEqual', between: 'Between' } as const

export const TEXT_OPERATORS = {
  eq: 'Equals',
  contains: 'Contains',
  starts_with: 'StartsWith',
  ends_with: 'EndsWith',
  regex: 'Regex',
} as const

export const ASSERTION_KINDS = {
  status_code: 'StatusCode',
  latency: 'Latency',
  dns_resolution: 'DnsResoltion',
  header: 'Header',
  body: 'Body',
} as const

export const PHASES = { headers: 'HeadersLatency', body: 'BodyLatency', total: 'TotalLatency' } as const

/** Our name for `theirs` in `table`; `undefined` when the table has none. Pure. */
export function ourName(table: Readonly<Record<string, string>>, theirs: string): string | undefined {
  return Object.keys(table).find((ours) => table[ours] === theirs)
}
