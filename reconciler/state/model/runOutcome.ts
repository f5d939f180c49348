import { EXIT } from '../../run/exitCode.ts'
import type { RunRecord } from './record.ts'

const OUTCOMES: Readonly<Record<number, RunRecord['outcome']>> = {
  [EXIT.converged]: 'done',
  [EXIT.partial]: 'partial',
  [EXIT.approvalNeeded]: 'held-back',
  [EXIT.decisionNeeded]: 'undecided',
  [EXIT.interrupted]: 'interrupted',
  [EXIT.terminated]: 'interrupted',
}

/** The outcome of a run with this exit code. Pure. */
export function outcomeOfExit(exitCode: number): RunRecord['outcome'] {
  return OUTCOMES[exitCode] ?? 'failed'
}
