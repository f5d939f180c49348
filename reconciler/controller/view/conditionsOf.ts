import { type BrakeName, releasedKeys } from '../../plan/brakes.ts'
import { ApiTimeout, type WaitReport, waitText } from '../../run/apiWait.ts'
import { failureOf } from '../../run/failureOf.ts'
import type { Suspension } from '../../state/model/record.ts'
import { counted } from '../../text/counts.ts'
import { STALLED_AFTER } from '../schedule/schedule.ts'
import type { CycleReport } from '../set/cycleReport.ts'
import type { Condition, ConditionType, ServiceStatus } from '../status/status.ts'

/** A condition without its age. */
export type FoundCondition = Omit<Condition, 'since'>

/** What is true of a set besides what its last cycle says. */
export interface ConditionFacts {
  readonly report: CycleReport | null
  readonly services: readonly ServiceStatus[]
  readonly role: 'leader' | 'follower' | 'starting'
  readonly leaseHolder: string | null
  readonly isRunning: boolean
  /** Failed runs in a row. */
  readonly failures: number
  /** What has kept this replica from any cycle since the last one; null when nothing has. */
  readonly fault: string | null
  /** Those that hold now. */
  readonly suspensions: readonly Suspension[]
  /** What the cycle under way waits for; null when there is nothing. */
  readonly wait: WaitReport | null
}

/** Everything that is true of a set, the most urgent first; never empty. Pure. */
export function conditionsOf(facts: ConditionFacts): readonly FoundCondition[] {
  const { report, role, leaseHolder } = facts
  if (role === 'follower') {
    const who = leaseHolder === null ? 'another replica' : leaseHolder
    return [found('Following', `${who} has the lease`, null)]
  }
  const running = facts.isRunning ? [found('Reconciling', 'a run is under way', null)] : []
  const suspended = facts.suspensions.map(({ scope, reason, actor }) =>
    found(
      'Suspended',
      `${actor} suspended ${scope === '*' ? 'the set' : scope}: ${reason}`,
      'resume it when the reason is gone',
    ),
  )
  const waiting = waitConditions(facts)
  if (report === null && facts.fault === null)
    return [...waiting, ...suspended, ...running, found('Starting', 'no run has ended yet', null)]
  const conditions = [
    ...stalled(facts),
    ...waiting,
    ...(report === null
      ? []
      : [
          ...sourceConditions(report),
          // What an approval would let through is not known while nothing is heard of the services.
          ...(facts.wait === null ? brakeConditions(report) : []),
          ...serviceConditions(facts.services, report),
        ]),
    ...suspended,
  ]
  if (conditions.length === 0 && report?.applied == null)
    return [...running, found('Starting', 'the last run was stopped before it came to anything', null)]
  return [
    ...conditions,
    ...running,
    ...(conditions.length > 0 ? [] : [found('Ready', 'every service is as its manifest says', null)]),
  ]
}

function found(type: ConditionType, message: string, todo: string | null): FoundCondition {
  return { type, message, todo }
}

const THROTTLED_TODO = 'find out which other client sends with the same key, or give each a key of its own'

/** That the cycle under way waits for the API, or that the last one gave up while answers were 429. */
function waitConditions({ wait, report }: ConditionFacts): readonly FoundCondition[] {
  if (wait !== null) {
    return wait.kind === 'throttled'
      ? [found('Throttled', waitText(wait), THROTTLED_TODO)]
      : [found('Degraded', waitText(wait), 'see that the API is up')]
  }
  const isThrottled = report?.error instanceof ApiTimeout && report.error.isThrottled
  return isThrottled ? [found('Throttled', failureOf(report.error).message, THROTTLED_TODO)] : []
}

function stalled({ failures, report, fault }: ConditionFacts): readonly FoundCondition[] {
  const isThrottled = report?.error instanceof ApiTimeout && report.error.isThrottled
  const reason = fault ?? (report?.error === undefined ? '' : failureOf(report.error).message)
  if (failures >= STALLED_AFTER) {
    // No count of them: each further one would be news.
    const message = `at least ${STALLED_AFTER} runs in a row failed${reason === '' ? '' : `, the last with: ${reason}`}`
    return [found('Stalled', message, 'put right what it says; it is tried again all the same')]
  }
  // Of that Throttled tells.
  if (fault === null && isThrottled) return []
  return reason === '' ? [] : [found('Degraded', reason, 'it is tried again')]
}

function sourceConditions({ source }: CycleReport): readonly FoundCondition[] {
  if (source === null) return []
  const { sourceProblem, refused, isRewritten, accepted } = source
  const problems = accepted?.set.problems ?? []
  return [
    ...(sourceProblem === null
      ? []
      : [
          found(
            'SourceUnavailable',
            sourceProblem,
            'what was last read stays in force, and nothing is written until it can be read again',
          ),
        ]),
    ...(refused === null
      ? []
      : [
          found(
            'CommitRefused',
            `commit ${refused.commit.sha} is not applied: ${refused.reason}`,
            'sign it with an allowed key',
          ),
        ]),
    ...(isRewritten
      ? [
          found(
            'HistoryRewritten',
            'the branch no longer contains the commit that was last applied',
            'when that was meant, acknowledge it; until then nothing is removed',
          ),
        ]
      : []),
    ...(problems.length === 0
      ? []
      : [
          found(
            'ManifestsInvalid',
            `${counted(problems.length, 'problem')} in the manifests`,
            'correct the manifests: until then their services are left alone, and nothing is removed',
          ),
        ]),
  ]
}

/** Brakes that are conditions of their own. The others show as changes that wait for an approval. */
const OF_BRAKE: Readonly<Partial<Record<BrakeName, readonly [ConditionType, string | null]>>> = {
  windowClosed: ['WindowClosed', null],
  otherSet: ['Degraded', 'name the service in one of the two sets'],
  missingPath: ['ManifestsInvalid', 'put the folder back, or correct the path of the set'],
}

function brakeConditions({ applied }: CycleReport): readonly FoundCondition[] {
  if (applied === null) return []
  const { braked } = applied.situation
  const released = releasedKeys(braked)
  return braked.tripped.flatMap((brake) => {
    if (brake.approvable) {
      // What no approval would let through is a matter of the brakes that it does not open.
      if (!brake.keys.some((key) => released.has(key))) return []
      const digest = applied.situation.digest ?? ''
      if (brake.brake === 'suspectedServerChange') {
        return [
          found(
            'SuspectedServerChange',
            brake.message,
            `when they are to be put back all the same, approve ${digest}`,
          ),
        ]
      }
      return [found('ApprovalRequired', brake.message, `when that is meant, approve ${digest}`)]
    }
    const [type, todo] = OF_BRAKE[brake.brake] ?? []
    return type === undefined ? [] : [found(type, brake.message, todo ?? null)]
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
  const looping = (applied?.situation.braked.changes ?? []).flatMap((change) =>
    change.kind === 'drifted' && change.looping.length > 0 ? [change.key] : [],
  )
  const pending = applied?.outcomes.some(({ result }) => result === 'lost') === true ? count('Pending') : 0
  return [
    ...(looping.length === 0
      ? []
      : [
          found(
            'HealLoop',
            `put back again and again, and left now: ${listed(looping)}`,
            'find out who else writes them: another reconciler, Terraform, or a person',
          ),
        ]),
    ...(failed + pending === 0
      ? []
      : [
          found(
            'Degraded',
            `${counted(failed + pending, 'service')} ${failed + pending === 1 ? 'is not as its manifest says' : 'are not as their manifests say'}`,
            'see the services',
          ),
        ]),
    ...(drifted === 0
      ? []
      : [
          found(
            'Drifted',
            `${counted(drifted, 'service')} ${drifted === 1 ? 'was' : 'were'} changed outside`,
            'see the services',
          ),
        ]),
  ]
}

/** Names as far as a message has room for them. */
function listed(keys: readonly string[]): string {
  const left = keys.length - KEYS_MAX
  return left <= 0 ? keys.join(', ') : `${keys.slice(0, KEYS_MAX).join(', ')} and ${left} more`
}

/** Most services that a condition names. */
const KEYS_MAX = 10

/** `found` with the age of what was true before. Pure. */
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
