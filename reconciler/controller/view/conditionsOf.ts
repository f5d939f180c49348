import { releasedKeys, type SafetyLimitName } from '../../plan/safetyLimits.ts'
import { ApiTimeout, waitText } from '../../run/apiWait.ts'
import { formatProblem } from '../../manifest/manifestProblem.ts'
import { failureOf } from '../../run/failureOf.ts'
import { counted, listed } from '../../text/counts.ts'
import { STALLED_AFTER } from '../schedule/schedule.ts'
import type { CycleReport } from '../set/cycleReport.ts'
import type { LoopFacts } from '../set/loopFacts.ts'
import { CONDITION_TYPES, type ConditionType } from '../status/conditions.ts'
import type { Condition, ServiceStatus } from '../status/status.ts'

/** A condition without its age. */
export type FoundCondition = Omit<Condition, 'since'>

/** Inputs of conditionsOf. */
interface ConditionFacts extends LoopFacts {
  readonly services: readonly ServiceStatus[]
}

/** The conditions that hold for a set, the most urgent first; never empty. Pure. */
export function conditionsOf(facts: ConditionFacts): readonly FoundCondition[] {
  const conditions = allConditions(facts)
  return CONDITION_TYPES.flatMap((type) => conditions.filter((one) => one.type === type))
}

function allConditions(facts: ConditionFacts): readonly FoundCondition[] {
  const { report, role, leaseHolder } = facts
  if (role === 'follower')
    return [found('Following', `${leaseHolder ?? 'another replica'} has the lease`, FOLLOWING_TODO)]
  const running = facts.running === null ? [] : [found('Reconciling', 'a run is in progress', null)]
  const suspended = facts.suspensions.map(({ scope, reason, actor }) => {
    const message = `${actor} suspended ${scope === '*' ? 'the set' : scope}: ${reason}`
    return found('Suspended', message, 'resume it when the reason no longer applies')
  })
  const waiting = waitConditions(facts)
  if (report === null && facts.fault === null)
    return [...waiting, ...suspended, ...running, found('Starting', 'no run has ended yet', null)]
  const conditions = [...failing(facts), ...waiting]
  if (report !== null) {
    conditions.push(...sourceConditions(report))
    // While the API does not respond, the plan behind an approval may be outdated.
    if (facts.wait === null) conditions.push(...limitConditions(report))
    conditions.push(...serviceConditions(facts.services, report))
  }
  conditions.push(...suspended)
  if (conditions.length > 0) return [...conditions, ...running]
  const rest =
    report?.applied == null
      ? found('Starting', 'the last run was stopped before it had a result', null)
      : found('Ready', 'every service matches its manifest', null)
  return [...running, rest]
}

const FOLLOWING_TODO = 'see the dashboard of that replica: only the leader knows the services'

function found(type: ConditionType, message: string, todo: string | null): FoundCondition {
  return { type, message, todo }
}

/** Settings of a set that replace those of all sets. */
const OF_SET = { url: 'api.url of the set (or PHAROS_URL)', key: 'api.key of the set (or PHAROS_API_KEY)' }

const THROTTLED_TODO = 'find the other client that uses the same key, or give each its own key'

/** Conditions for a current cycle that waits for the API, or a last one that timed out on 429 responses. */
function waitConditions({ wait, report }: ConditionFacts): readonly FoundCondition[] {
  if (wait !== null) {
    return wait.kind === 'throttled'
      ? [found('Throttled', waitText(wait), THROTTLED_TODO)]
      : [found('Degraded', waitText(wait), 'check that the API is up')]
  }
  const isThrottled = report?.error instanceof ApiTimeout && report.error.isThrottled
  return isThrottled ? [found('Throttled', failureOf(report.error).message, THROTTLED_TODO)] : []
}

/** The condition for failed runs, or for what prevents them. */
function failing({ failures, report, fault }: ConditionFacts): readonly FoundCondition[] {
  const isThrottled = report?.error instanceof ApiTimeout && report.error.isThrottled
  const failure = fault ?? (report?.error === undefined ? null : failureOf(report.error, OF_SET))
  if (failure?.code === 'E_STATE') return [found('StateUnavailable', failure.message, STATE_TODO)]
  if (failures >= STALLED_AFTER) {
    // With the exact count each further failure would be another message.
    const message = `at least ${STALLED_AFTER} runs in a row failed${failure === null ? '' : `, the last with: ${failure.message}`}`
    return [found('Stalled', message, 'fix the error above; retries continue')]
  }
  // Throttled reports it.
  if (fault === null && isThrottled) return []
  return failure === null ? [] : [found('Degraded', failure.message, 'retries continue')]
}

const STATE_TODO =
  'check the address, the credential and the host, or the file and its disk: until then nothing is changed'

function sourceConditions({ source, applied }: CycleReport): readonly FoundCondition[] {
  if (source === null) return []
  const { sourceProblem, refused, isRewritten, accepted } = source
  const problems = accepted?.set.problems ?? []
  const conditions: FoundCondition[] = []
  if (sourceProblem !== null) {
    const todo = 'check the address, the credential and the branch: until then nothing is written'
    conditions.push(found('SourceUnavailable', sourceProblem, todo))
  }
  if (refused !== null) {
    const message = `commit ${refused.commit.sha} is not applied: ${refused.reason}`
    conditions.push(found('CommitRefused', message, 'sign it with an allowed key, or revert it'))
  }
  if (isRewritten) {
    const message = 'the branch no longer contains the commit that was last applied'
    conditions.push(
      found('HistoryRewritten', message, 'acknowledge it if intended; until then nothing is removed'),
    )
  }
  const [problem] = problems
  if (problem !== undefined) {
    const todo = 'correct the manifests: until then their services do not change, and nothing is removed'
    const first = problems.length === 1 ? '' : ', the first'
    const message = `${counted(problems.length, 'problem')} in the manifests${first}: ${formatProblem(problem)}`
    conditions.push(found('ManifestsInvalid', message, todo))
  }
  // With services to remove, the safety limit missingPath reports it.
  const isReported = applied?.planResult.limited.tripped.some(({ brake }) => brake === 'missingPath') === true
  if (accepted?.loaded.exists === false && !isReported)
    conditions.push(found('ManifestsInvalid', 'the path does not exist', CORRECT_PATH))
  return conditions
}

const CORRECT_PATH = 'restore the folder, or correct the path of the set'

/** Safety limits with their own conditions. The others are shown as changes that wait for approval. */
const OF_LIMIT: Readonly<Partial<Record<SafetyLimitName, readonly [ConditionType, string | null]>>> = {
  windowClosed: ['WindowClosed', null],
  // Its message says what to do, which depends on whether the state of the other set is open.
  otherSet: ['Degraded', null],
  missingPath: ['ManifestsInvalid', CORRECT_PATH],
}

function limitConditions({ applied }: CycleReport): readonly FoundCondition[] {
  if (applied === null) return []
  const { limited } = applied.planResult
  const released = releasedKeys(limited)
  return limited.tripped.flatMap((limit) => {
    if (limit.approvable) {
      // If other safety limits block all of these changes as well, an approval has no effect yet.
      if (!limit.keys.some((key) => released.has(key))) return []
      const digest = applied.planResult.digest ?? ''
      return limit.brake === 'suspectedServerChange'
        ? [found('SuspectedServerChange', limit.message, `to revert the fields, approve ${digest}`)]
        : [found('ApprovalRequired', limit.message, `if intended, approve ${digest}`)]
    }
    const [type, todo] = OF_LIMIT[limit.brake] ?? []
    return type === undefined ? [] : [found(type, limit.message, todo ?? null)]
  })
}

function serviceConditions(
  services: readonly ServiceStatus[],
  { applied }: CycleReport,
): readonly FoundCondition[] {
  const count = (state: ServiceStatus['state']): number =>
    services.filter((one) => one.state === state).length
  const failed = count('Failed') + count('Blocked')
  const drifted = count('Drifted')
  const looping = (applied?.planResult.limited.changes ?? []).flatMap((change) =>
    change.kind === 'drifted' && change.looping.length > 0 ? [change.key] : [],
  )
  const pending = applied?.outcomes.some(({ result }) => result === 'lost') === true ? count('Pending') : 0
  const conditions: FoundCondition[] = []
  if (looping.length > 0) {
    const message = `reverted repeatedly, no longer reverted: ${listed(looping, KEYS_MAX)}`
    const todo = 'find the other writer: another reconciler, Terraform, or a person'
    conditions.push(found('HealLoop', message, todo))
  }
  if (failed + pending > 0) {
    const differ = failed + pending === 1 ? 'does not match its manifest' : 'do not match their manifests'
    conditions.push(found('Degraded', `${counted(failed + pending, 'service')} ${differ}`, SEE_SERVICES))
  }
  if (drifted > 0) {
    const message = `${counted(drifted, 'service')} ${drifted === 1 ? 'was' : 'were'} changed outside git`
    conditions.push(found('Drifted', message, SEE_SERVICES))
  }
  return conditions
}

const SEE_SERVICES = 'see the services on the page of the set, in status.json, or with --once --json'

/** Maximum of services that a condition names. */
const KEYS_MAX = 10

/** `conditions` with the time since when each holds. Pure. */
export function withAges(
  conditions: readonly FoundCondition[],
  before: readonly Condition[],
  at: string,
): readonly Condition[] {
  return conditions.map((condition) => ({
    ...condition,
    since: before.find(({ type }) => type === condition.type)?.since ?? at,
  }))
}
