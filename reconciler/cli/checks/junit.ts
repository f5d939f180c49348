import { visible } from '../../../api/contract/visibleText.ts'
import { formatPlace, formatProblem, type ManifestProblem } from '../../manifest/manifestProblem.ts'
import { grouped } from '../../plan/grouped.ts'
import type { FinishedCheck } from './runChecks.ts'

const US_PER_SECOND = 1_000_000
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
const START = '<?xml version="1.0" encoding="UTF-8"?>'

/** A JUnit report of `checks`: a suite for each service, a case for each check. Pure. */
export function checksJunit(checks: readonly FinishedCheck[]): string {
  const suites = [...grouped(checks, ({ service }) => service)].map(([service, ofService]) => {
    const cases = ofService.map(testCase).join('\n')
    return `  <testsuite name="${escaped(service)}" ${counts(ofService)}>\n${cases}\n  </testsuite>`
  })
  return [START, `<testsuites name="pharos test" ${counts(checks)}>`, ...suites, '</testsuites>'].join('\n')
}

/** A JUnit report of a run that failed with `message`. Pure. */
export function failureJunit(message: string): string {
  return errorsJunit([{ name: 'test', message }])
}

/** A JUnit report of a run that `problems` of manifests prevented: a case for each. Pure. */
export function problemsJunit(problems: readonly ManifestProblem[]): string {
  return errorsJunit(
    problems.map((problem) => ({ name: formatPlace(problem), message: formatProblem(problem) })),
  )
}

function errorsJunit(errors: readonly { readonly name: string; readonly message: string }[]): string {
  const counted = `name="pharos test" tests="${errors.length}" failures="0" errors="${errors.length}"`
  const cases = errors.map(
    ({ name, message }) =>
      `    <testcase classname="pharos" name="${escaped(name)}"><error message="${escaped(message)}"/></testcase>`,
  )
  return [
    START,
    `<testsuites ${counted}>`,
    `  <testsuite ${counted}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

function counts(checks: readonly FinishedCheck[]): string {
  const failures = checks.filter(({ result }) => result.outcome === 'down' || result.outcome === 'degraded')
  const errors = checks.filter(({ result }) => result.outcome === 'unknown')
  const us = checks.reduce((sum, { result }) => sum + result.phases.total, 0)
  return `tests="${checks.length}" failures="${failures.length}" errors="${errors.length}" time="${seconds(us)}"`
}

function testCase({ service, endpoint, url, result }: FinishedCheck): string {
  const name = endpoint === url ? url : `${endpoint} (${url})`
  const start = `    <testcase classname="${escaped(service)}" name="${escaped(name)}" time="${seconds(result.phases.total)}"`
  if (result.outcome === 'up') return `${start}/>`
  const kind = result.outcome === 'unknown' ? 'error' : 'failure'
  const failed = result.verdicts.filter((verdict) => verdict.result !== 'pass').map(({ text }) => text)
  const message = escaped(result.text ?? result.reason)
  const body = escaped(failed.join('\n').replaceAll('\n', '; '))
  return `${start}>\n      <${kind} type="${result.reason}" message="${message}">${body}</${kind}>\n    </testcase>`
}

function seconds(us: number): string {
  return (us / US_PER_SECOND).toFixed(6)
}

function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
