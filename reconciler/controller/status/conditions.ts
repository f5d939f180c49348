/** The urgency of a state. Each has a colour and a shape, so that either is sufficient. */
export type Tone = 'good' | 'busy' | 'wait' | 'warn' | 'bad'

/** Tones from the most to the least urgent. */
export const TONES: readonly Tone[] = ['bad', 'warn', 'wait', 'busy', 'good']

/** What follows from a condition. */
interface ConditionRule {
  readonly tone: Tone
  /** Severity of the event that announces it; absent for a condition that is not announced. */
  readonly severity?: 'warning' | 'error'
  /** State of a commit that was run and is not applied completely; absent when the condition says nothing about it. */
  readonly commit?: 'failure' | 'pending'
}

const RULES = {
  /** Several cycles in a row failed. */
  Stalled: { tone: 'bad', severity: 'error', commit: 'failure' },
  /** The state cannot be opened, read or written: nothing is changed. */
  StateUnavailable: { tone: 'bad', severity: 'warning' },
  /** The API rejects every request with 429: the status of services is old, and nothing is applied. */
  Throttled: { tone: 'warn', severity: 'warning' },
  /** The repository cannot be read: the last manifests remain in force, and nothing is written. */
  SourceUnavailable: { tone: 'bad', severity: 'warning' },
  /** The newest commit has no signature that the configuration allows: it is not applied. */
  CommitRefused: { tone: 'bad', severity: 'error' },
  /** The branch no longer contains the last applied commit: nothing is removed until that is acknowledged. */
  HistoryRewritten: { tone: 'warn', severity: 'error', commit: 'pending' },
  /** Many services drifted in the same fields at once: nothing is healed until an approval. */
  SuspectedServerChange: { tone: 'warn', severity: 'error', commit: 'pending' },
  /** A safety limit blocks changes until their digest is approved. */
  ApprovalRequired: { tone: 'warn', severity: 'warning', commit: 'pending' },
  /** A field was reverted repeatedly: another writer changes it as well, and it is no longer reverted. */
  HealLoop: { tone: 'warn', severity: 'error', commit: 'failure' },
  /** Some manifests are invalid. */
  ManifestsInvalid: { tone: 'bad', severity: 'warning', commit: 'failure' },
  /** Some services could not be updated to match their manifests. */
  Degraded: { tone: 'bad', severity: 'warning', commit: 'failure' },
  /** The set is suspended, with a reason. */
  Suspended: { tone: 'wait', severity: 'warning', commit: 'pending' },
  /** Changes wait for a window. */
  WindowClosed: { tone: 'wait', commit: 'pending' },
  /** Some services were changed by hand, and are not reverted. */
  Drifted: { tone: 'warn' },
  /** A run is in progress. */
  Reconciling: { tone: 'busy' },
  /** No run has ended yet. */
  Starting: { tone: 'busy' },
  /** Another replica leads. */
  Following: { tone: 'busy' },
  /** Every service matches its manifest. */
  Ready: { tone: 'good' },
} as const satisfies Readonly<Record<string, ConditionRule>>

/** The type of a condition, as in metrics and `/status.json`. */
export type ConditionType = keyof typeof RULES

/** The conditions of a set, from the most to the least urgent: the first one that holds is the headline. */
export const CONDITIONS: Readonly<Record<ConditionType, ConditionRule>> = RULES
/** All types, in the order of CONDITIONS. */
// True because the record has exactly the conditions as keys.
export const CONDITION_TYPES = Object.keys(CONDITIONS) as readonly ConditionType[]

/** `Source unavailable` for SourceUnavailable. Pure. */
export function conditionWord(type: ConditionType): string {
  return type.replaceAll(/(?<=[a-z])[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
}

/** The most urgent of `conditions`; `Ready` when there is none. Pure. */
export function headlineOf(conditions: readonly { readonly type: ConditionType }[]): ConditionType {
  const held = new Set(conditions.map(({ type }) => type))
  return CONDITION_TYPES.find((type) => held.has(type)) ?? 'Ready'
}
