import type { RunOutcome } from './record.ts'

/** The outcome of a run with this exit code. Pure. */
export function outcomeOfExit(exitCode: number): RunOutcome {
  switch (exitCode) {
    case 0:
      return 'done'
    case 3:
      return 'partial'
    case 4:
      return 'held-back'
    case 6:
      return 'undecided'
    case 130:
    case 143:
      return 'interrupted'
    default:
      return 'failed'
  }
}
