import { visible } from '../../../api/contract/visibleText.ts'
import { durationText } from '../../../monitoring/assertions/durationComparison.ts'
import type { Verdict } from '../../../monitoring/assertions/evaluate.ts'
import type { Output } from '../../text/output.ts'
import type { FinishedCheck } from './runChecks.ts'

const WORDS = { pass: 'PASS', fail: 'FAIL', unknown: 'UNKNOWN' } as const satisfies Record<
  Verdict['result'],
  string
>

/** The result of `check` as text: its name, a line for each assertion, and its phases. Pure. */
export function checkLines(check: FinishedCheck, paint: Output['paint']): readonly string[] {
  const { service, endpoint, url, result } = check
  const name = endpoint === url ? url : `${endpoint} (${url})`
  return [
    `${paint.bold(visible(service))}: ${visible(name)}`,
    ...verdictLines(check).map(([word, text]) => {
      const painted = { pass: paint.green, fail: paint.red, unknown: paint.yellow }[word](WORDS[word])
      return `  ${painted} ${visible(text)}`
    }),
    `  ${result.outcome}: ${phasesText(check)}`,
  ]
}

/** A failure of the whole check comes first, because it is the cause of the false assertions. */
function verdictLines(check: FinishedCheck): readonly (readonly [Verdict['result'], string])[] {
  const { verdicts, text, reason, status, outcome } = check.result
  const lines = verdicts.map((verdict) => [verdict.result, verdict.text] as const)
  const isReported = text === null || verdicts.some((verdict) => verdict.text === text)
  if (!isReported) return [[outcome === 'unknown' ? 'unknown' : 'fail', text], ...lines]
  const isImplied = check.prepared.needs.impliedStatus && reason === 'none'
  return isImplied ? [['pass', `status ${status} (expected < 400)`], ...lines] : lines
}

function phasesText({ result }: FinishedCheck): string {
  const { total, ...phases } = result.phases
  const parts = Object.entries(phases).map(([name, us]) => `${name} ${durationText(us)}`)
  const attempts = result.attempts === 2 ? '; second of 2 attempts' : ''
  return `${durationText(total)} (${parts.join(', ')})${attempts}`
}
