import type { PlanLimits } from '../../domain/planLimits.ts'
import type { LimitOverrides } from '../store.ts'

/** The value for all regions in a column of region codes. */
const ALL_REGIONS = 'all'

/** The column of each limit, in the tables of plans and of organisations. */
export const COLUMN_OF_LIMIT = {
  servicesMax: 'services_max',
  endpointsMax: 'endpoints_max',
  serviceEndpointsMax: 'service_endpoints_max',
  intervalSecsMin: 'interval_secs_min',
  incidentsMibMax: 'incidents_mib_max',
  resultsDays: 'results_days',
  regionsAllowed: 'regions_allowed',
} as const satisfies Record<keyof LimitOverrides, string>

/** Limit columns of a plan, for a query with the alias `p`. */
export const PLAN_LIMIT_COLUMNS = selection((column) => `p.${column}`)

/**
 * Limit columns of an organisation, its overrides first. For a query with the aliases `o` for orgs and `p` for plans.
 */
export const LIMIT_COLUMNS = selection((column) => `coalesce(o.${column}, p.${column})`)

/** Quoted, because PostgreSQL folds other names to lower case. */
function selection(expression: (column: string) => string): string {
  return Object.entries(COLUMN_OF_LIMIT)
    .map(([field, column]) => `${expression(column)} AS "${field}"`)
    .join(', ')
}

/** A row of LIMIT_COLUMNS. */
export interface LimitRow extends Omit<PlanLimits, 'regionsAllowed'> {
  readonly regionsAllowed: string
}

/** The limits of a row, with its list of regions parsed. Pure. */
export function limitsOfRow(row: LimitRow): PlanLimits {
  return {
    servicesMax: row.servicesMax,
    endpointsMax: row.endpointsMax,
    serviceEndpointsMax: row.serviceEndpointsMax,
    intervalSecsMin: row.intervalSecsMin,
    incidentsMibMax: row.incidentsMibMax,
    resultsDays: row.resultsDays,
    regionsAllowed: row.regionsAllowed === ALL_REGIONS ? null : row.regionsAllowed.split(','),
  }
}

/** A column of an organisation that overrides a limit; `null` removes the override. */
export interface OverrideColumn {
  readonly column: (typeof COLUMN_OF_LIMIT)[keyof LimitOverrides]
  readonly value: number | string | null
}

/** The columns that `overrides` sets; empty when it sets none. Pure. */
export function overrideColumns(overrides: LimitOverrides): readonly OverrideColumn[] {
  const values = { ...overrides, regionsAllowed: regionsText(overrides.regionsAllowed) }
  // True because Object.keys gives the keys of a constant.
  return (Object.keys(COLUMN_OF_LIMIT) as (keyof LimitOverrides)[]).flatMap((field) => {
    const value = values[field]
    return value === undefined ? [] : [{ column: COLUMN_OF_LIMIT[field], value }]
  })
}

function regionsText(regions: LimitOverrides['regionsAllowed']): string | null | undefined {
  if (regions === undefined || regions === null) return regions
  return regions === 'all' ? ALL_REGIONS : regions.join(',')
}
