import type { ReadingClient } from '../../api/client/client.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { DeclaredService, ServiceSet } from '../manifest/compile/declaredService.ts'
import type { Binding } from '../plan/binding.ts'
import type { CreateResolution } from '../plan/createResolution.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import type { Plan } from '../plan/planValue.ts'
import type { LimitedPlan, SafetyLimits, TrippedLimit } from '../plan/safetyLimits.ts'
import type { Narrowed, Selection } from '../plan/selection.ts'
import type { SuspectedDuplicate } from '../plan/suspectedDuplicates.ts'
import type { StateReading } from '../state/model/store.ts'
import type { StateKey } from '../state/stateKey.ts'

/** The inputs of buildPlan. */
export interface PlanInput {
  readonly client: ReadingClient
  readonly store: StateReading
  readonly stateKey: StateKey
  readonly url: string
  readonly set: ServiceSet
  readonly sourceExists: boolean
  /** Name of the folder or file of the manifests. */
  readonly sourceName: string
  /** Whether to look up regions before any are sent, which takes one more request. */
  readonly regions: 'looked-up' | 'trusted'
  /** Whether a secret that is not available counts as unchanged, because nothing is sent. */
  readonly areSecretsOptional?: boolean
  /** How long a creation without a response may still take effect (milliseconds). */
  readonly createGraceMs: number
  readonly nowMs: () => number
  /** Limits of one run without approval; DEFAULT_SAFETY_LIMITS when absent. */
  readonly safetyLimits?: SafetyLimits | undefined
  /** Further safety limits, such as one on every change while a window is closed. Pure. */
  readonly holds?: ((plan: Plan) => readonly TrippedLimit[]) | undefined
  /** The selected services; all when absent. */
  readonly selection?: Selection | undefined
  /** Id of a run in progress: its open requests are not lost. */
  readonly runUnderWay?: string
}

/** A plan with the facts on which it is based. */
export interface PlanResult {
  readonly services: readonly ServiceResponse[]
  /** When the services were listed (milliseconds, by the clock of the input). */
  readonly listedAtMs: number
  /** Bindings of the state and of recovered creations, by key. */
  readonly bindings: ReadonlyMap<string, Binding>
  readonly desired: ReadonlyMap<string, DesiredService>
  readonly declared: ReadonlyMap<string, DeclaredService>
  readonly resolution: CreateResolution
  readonly plan: Plan
  readonly leftOut: Narrowed['leftOut']
  readonly limited: LimitedPlan
  readonly duplicates: readonly SuspectedDuplicate[]
  /** Sentences for the user. */
  readonly warnings: readonly string[]
  /** The digest for `--approve`; null when no approvable safety limit blocks a change. */
  readonly digest: string | null
}
