/** Exit codes, by what they say. */
export const EXIT = {
  converged: 0,
  couldNotRun: 1,
  changesPending: 2,
  partial: 3,
  approvalNeeded: 4,
  stateHeld: 5,
  decisionNeeded: 6,
  manifestsInvalid: 7,
  interrupted: 130,
  terminated: 143,
} as const

/** From the most to the least telling: the first that holds is the exit code. */
const PRECEDENCE = [
  'couldNotRun',
  'manifestsInvalid',
  'decisionNeeded',
  'approvalNeeded',
  'partial',
  'changesPending',
] as const

/** What may be true of a run at the same time. */
export type RunFacts = { readonly [Fact in (typeof PRECEDENCE)[number]]?: boolean }

/** The exit code of a run of which `facts` are true; 0 when none is. Pure. */
export function exitCodeOf(facts: RunFacts): number {
  const first = PRECEDENCE.find((fact) => facts[fact] === true)
  return first === undefined ? EXIT.converged : EXIT[first]
}
