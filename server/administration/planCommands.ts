import { type Command, InvalidArgumentError } from 'commander'
import { RESULTS_DAYS_MAX } from '../domain/planLimits.ts'
import { isRegionCode } from '../domain/regions.ts'
import { orgNotFound } from '../store/shared/orgNotFound.ts'
import type { LimitOverrides } from '../store/store.ts'
import { addDatabase, type DatabaseOptions, engineOf } from './options/databaseOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase, withExistingStore } from './options/withStore.ts'

/** The value that restores the plan's own limit. */
const PLAN_WORD = 'plan'

/** Adds `plan list`, `plan set` and `plan limits`. Changes apply to the next request of a running server. */
export function addPlanCommands(program: Command, write: Write): void {
  const plan = program.command('plan').description('plans and limits')
  addDatabase(plan.command('list').description('list plans and their limits')).action(
    async (options: DatabaseOptions) => {
      const plans = await inDatabase(options, (store) => store.listPlans())
      const rows = plans.map((each) => [
        each.name,
        each.hasApiAccess ? 'yes' : 'no',
        String(each.servicesMax),
        String(each.endpointsMax),
        String(each.serviceEndpointsMax),
        String(each.intervalSecsMin),
        String(each.incidentsMibMax),
        String(each.resultsDays),
        each.regionsAllowed?.join(',') ?? 'all',
      ])
      const header = [
        'PLAN',
        'API',
        'SERVICES',
        'ENDPOINTS',
        'PER SERVICE',
        'INTERVAL',
        'INCIDENTS MIB',
        'RESULTS DAYS',
        'REGIONS',
      ]
      present(write, options.json, plans, table(header, rows))
    },
  )
  addDatabase(plan.command('set').description('move an organisation to another plan'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .requiredOption('--plan <plan>', 'the new plan')
    .action(async (options: DatabaseOptions & { org: string; plan: string }) => {
      await inDatabase(options, (store) => store.setPlan(options.org, options.plan))
      const { org: id, plan: name } = options
      present(write, options.json, { id, plan: name }, `${id} is on plan ${name}`)
    })
  addLimits(plan, write)
}

function addLimits(plan: Command, write: Write): void {
  addDatabase(
    plan.command('limits').description('override the limits of an organisation; print the limits in force'),
  )
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .option('--services-max <n>', 'active services; "plan" ends the override', count)
    .option('--endpoints-max <n>', 'endpoints of all active services', count)
    .option('--service-endpoints-max <n>', 'endpoints of one service', count)
    .option('--interval-secs-min <n>', 'shortest check interval (seconds)', count)
    .option('--incidents-mib-max <n>', 'total size of incidents (MiB)', count)
    .option('--results-days <n>', 'retention of single results (days)', days)
    .option('--regions-allowed <codes>', 'region codes separated by commas, "all" or "plan"', regions)
    .action(async (options: DatabaseOptions & TypedLimits & { org: string }) => {
      const { org: id, dataDir, database, databaseFile, json, ...typed } = options
      const org = await withExistingStore(engineOf({ dataDir, database, databaseFile }), async (store) => {
        await store.overrideLimits(id, overridesOf(typed))
        return (await store.listOrgs()).find((each) => each.id === id)
      })
      if (org === undefined) throw orgNotFound(id)
      present(write, json, org.limits, JSON.stringify(org.limits, null, 2))
    })
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
