import { type Command, InvalidArgumentError } from 'commander'
import { RESULTS_DAYS_MAX } from '../domain/planLimits.ts'
import { isRegionCode } from '../domain/regions.ts'
import { orgNotFound } from '../store/shared/orgNotFound.ts'
import type { LimitOverrides } from '../store/store.ts'
import { databaseCommand, inStore, listed, type OrgOptions, orgCommand } from './options/databaseCommand.ts'

/** The value that restores the plan's own limit. */
const PLAN_WORD = 'plan'

/** Adds `plan list`, `plan set` and `plan limits`. Changes apply to the next request of a running server. */
export function addPlanCommands(program: Command): void {
  const plan = program.command('plan').description('plans and limits')
  databaseCommand(plan, 'list', 'list plans and their limits').action(
    inStore(async (store) =>
      listed(await store.listPlans(), {
        PLAN: 'name',
        API: ({ hasApiAccess }) => (hasApiAccess ? 'yes' : 'no'),
        SERVICES: 'servicesMax',
        ENDPOINTS: 'endpointsMax',
        'PER SERVICE': 'serviceEndpointsMax',
        INTERVAL: 'intervalSecsMin',
        'INCIDENTS MIB': 'incidentsMibMax',
        'RESULTS DAYS': 'resultsDays',
        REGIONS: ({ regionsAllowed }) => regionsAllowed?.join(',') ?? 'all',
      }),
    ),
  )
  orgCommand(plan, 'set', 'move an organisation to another plan')
    .requiredOption('--plan <plan>', 'the new plan')
    .action(
      inStore(async (store, { org: id, plan: name }: OrgOptions & { readonly plan: string }) => {
        await store.setPlan(id, name)
        return { value: { id, plan: name }, text: `${id} is on plan ${name}` }
      }),
    )
  orgCommand(plan, 'limits', 'override the limits of an organisation; print the limits in force')
    .option('--services-max <n>', 'active services; "plan" ends the override', count)
    .option('--endpoints-max <n>', 'endpoints of all active services', count)
    .option('--service-endpoints-max <n>', 'endpoints of one service', count)
    .option('--interval-secs-min <n>', 'shortest check interval (seconds)', count)
    .option('--incidents-mib-max <n>', 'total size of incidents (MiB)', count)
    .option('--results-days <n>', 'retention of single results (days)', days)
    .option('--regions-allowed <codes>', 'region codes separated by commas, "all" or "plan"', regions)
    .action(
      inStore(async (store, options: OrgOptions & TypedLimits) => {
        const { org: id, dataDir: _, database: __, databaseFile: ___, json: ____, ...typed } = options
        await store.overrideLimits(id, overridesOf(typed))
        const org = (await store.listOrgs()).find((each) => each.id === id)
        if (org === undefined) throw orgNotFound(id)
        return { value: org.limits, text: JSON.stringify(org.limits, null, 2) }
      }),
    )
}

/** Overrides as parsed by commander, with a word instead of null for the plan's own limit. */
type TypedLimits = {
  readonly [Limit in keyof LimitOverrides]: NonNullable<LimitOverrides[Limit]> | typeof PLAN_WORD
}

function overridesOf(typed: TypedLimits): LimitOverrides {
  return Object.fromEntries(
    Object.entries(typed).map(([limit, value]) => [limit, value === PLAN_WORD ? null : value]),
  )
}

function count(text: string): number | typeof PLAN_WORD {
  if (text === PLAN_WORD) return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be a whole number, or "plan" for the limit of the plan')
}

function days(text: string): number | typeof PLAN_WORD {
  const value = count(text)
  if (value === PLAN_WORD || (value >= 1 && value <= RESULTS_DAYS_MAX)) return value
  throw new InvalidArgumentError(`must be from 1 to ${RESULTS_DAYS_MAX} days, or "plan"`)
}

function regions(text: string): readonly string[] | 'all' | typeof PLAN_WORD {
  if (text === PLAN_WORD || text === 'all') return text
  const codes = text.split(',')
  if (codes.every(isRegionCode)) return codes
  throw new InvalidArgumentError('must be region codes separated by commas, "all", or "plan"')
}
