/** Exit codes, by their meaning; docs/errors.md describes each. */
export const EXIT = {
  converged: 0,
  couldNotRun: 1,
  changesPending: 2,
  partial: 3,
  approvalNeeded: 4,
  stateHeld: 5,
  decisionNeeded: 6,
  manifestsInvalid: 7,
  checksFailed: 8,
  interrupted: 130,
  terminated: 143,
} as const

/** In order of precedence: the first one that holds is the exit code. */
const PRECEDENCE = [
  'couldNotRun',
  'manifestsInvalid',
  'decisionNeeded',
  'approvalNeeded',
  'partial',
  'changesPending',
] as const

/** Facts about a run, of which several may be true. */
export type RunFacts = { readonly [Fact in (typeof PRECEDENCE)[number]]?: boolean }

/** The exit code of a run of which `facts` are true; 0 when none is. Pure. */
export function exitCodeOf(facts: RunFacts): number {
  const first = PRECEDENCE.find((fact) => facts[fact] === true)
  return first === undefined ? EXIT.converged : EXIT[first]
}

/** The results of a run that determine its exit code. Fields that do not apply are left out. */
export interface RunFindings {
  /** Exit code for the signal that ended the run. */
  readonly interrupted?: number | undefined
  /** Exit code for the error that ended the run before its end. */
  readonly failed?: number | undefined
  /**
   * `look`: any problem in the manifests makes them invalid, except a secret that this machine does not have. `write`:
   * they are invalid when none is usable; otherwise the usable ones are applied and the run is partial.
   */
  readonly purpose: 'look' | 'write'
  /** Problems of the manifests. */
  readonly problems: readonly { readonly code: string }[]
  /** Manifests without a problem. */
  readonly usableManifests: number
  /** Safety limits that block changes. */
  readonly tripped?: readonly { readonly brake: string }[]
  /** Blocked keys. */
  readonly blocked?: readonly { readonly needsDecision: boolean }[]
  /** Results of executed changes. */
  readonly outcomes?: readonly { readonly result: string }[]
  /** Whether the history or the newest commit of the repository has to be accepted first. */
  readonly isCommitInDoubt?: boolean
  /** Whether there are changes or drift for which the command exits with 2. */
  readonly hasChanges?: boolean
}

/** The exit code of `plan`, `apply`, `adopt`, `drift` and of each cycle of the controller. Pure. */
export function runExitCode(run: RunFindings): number {
  if (run.interrupted !== undefined) return run.interrupted
  if (run.failed !== undefined) return run.failed
  const { purpose, problems, usableManifests, tripped = [], blocked = [], outcomes = [] } = run
  return exitCodeOf({
    manifestsInvalid:
      purpose === 'look'
        ? problems.some(({ code }) => code !== 'E_SECRET')
        : problems.length > 0 && usableManifests === 0,
    decisionNeeded:
      run.isCommitInDoubt === true ||
      tripped.some(({ brake }) => brake === 'otherSource') ||
      blocked.some(({ needsDecision }) => needsDecision),
    // Invalid manifests are covered by the problems.
    approvalNeeded: tripped.some(({ brake }) => brake !== 'invalidSource'),
    partial: problems.length > 0 || blocked.length > 0 || outcomes.some(({ result }) => result !== 'done'),
    changesPending: run.hasChanges === true,
  })
}

/** The exit code of several runs together: the code of highest precedence, 0 for none. Pure. */
export function combinedExitCode(codes: readonly number[]): number {
  const stopped = codes.find((code) => code >= EXIT.interrupted)
  if (stopped !== undefined) return stopped
  if (codes.includes(EXIT.stateHeld)) return EXIT.stateHeld
  return exitCodeOf(Object.fromEntries(PRECEDENCE.map((fact) => [fact, codes.includes(EXIT[fact])])))
}
