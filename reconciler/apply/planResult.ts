import type { ReadingClient } from '../../api/client/client.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { DeclaredService, ServiceSet } from '../manifest/compile/declaredService.ts'
import type { Binding } from '../plan/binding.ts'
import type { BrakedPlan, BrakePolicy, TrippedBrake } from '../plan/brakes.ts'
import type { CreateResolution } from '../plan/createResolution.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import type { Plan } from '../plan/planValue.ts'
import type { Narrowed, Selection } from '../plan/selection.ts'
import type { SuspectedDuplicate } from '../plan/suspectedDuplicates.ts'
import type { StateReading } from '../state/model/store.ts'
import type { StateKey } from '../state/stateKey.ts'

/** Everything that a plan is built from. */
export interface PlanInput {
  readonly client: ReadingClient
  readonly store: StateReading
  readonly stateKey: StateKey
  readonly url: string
  readonly set: ServiceSet
  readonly sourceExists: boolean
  /** Name of the folder or file of the manifests. */
  readonly sourceName: string
  /** Whether regions are looked up before they are sent: one request more, only where some would be. */
  readonly regions: 'looked-up' | 'trusted'
  /** Whether a secret that is not available counts as unchanged, because nothing is sent. */
  readonly areSecretsOptional?: boolean
  /** How long a creation without an answer may still land (milliseconds). */
  readonly createGraceMs: number
  readonly nowMs: () => number
  /** What one run may do without approval; the usual when absent. */
  readonly brakes?: BrakePolicy | undefined
  /** Further blocks on a plan, such as on every change while a window is closed. Pure. */
  readonly holds?: ((plan: Plan) => readonly TrippedBrake[]) | undefined
  /** The services that the run is about; all when absent. */
  readonly selection?: Selection | undefined
  /** A run whose own requests are under way: they are not lost, and need no reconciliation. */
  readonly runUnderWay?: string
}

/** Everything known before the first write. */
export interface PlanResult {
  readonly services: readonly ServiceResponse[]
  /** When they were listed (milliseconds, of the input's clock). */
  readonly listedAtMs: number
  /** Those of the state and of creations that were recovered, by key. */
  readonly bindings: ReadonlyMap<string, Binding>
  readonly desired: ReadonlyMap<string, DesiredService>
  readonly declared: ReadonlyMap<string, DeclaredService>
  readonly resolution: CreateResolution
  readonly plan: Plan
  readonly leftOut: Narrowed['leftOut']
  readonly braked: BrakedPlan
  /** Services that may have been made twice. */
  readonly duplicates: readonly SuspectedDuplicate[]
  /** What could not be looked at and what looks odd, as sentences for the user. */
  readonly warnings: readonly string[]
  /** What `--approve` has to name; null when no brake that an approval opens holds anything back. */
  readonly digest: string | null
}
