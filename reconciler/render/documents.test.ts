import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codePoint } from '../../scripts/testing/codePoint.ts'
import { PROBLEM_MEANINGS, type ProblemCode } from '../manifest/manifestProblem.ts'
import type { Change } from '../plan/planValue.ts'
import { problemAnnotation } from '../text/githubAnnotation.ts'
import { failureMarkdown, planMarkdown } from './planMarkdown.ts'
import type { ShownPlan } from './planText.ts'
import { sarifLog } from './sarif.ts'

const CODES = Object.keys(PROBLEM_MEANINGS) as ProblemCode[] // True because the record has exactly the codes as keys.
const nasty = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: codePoint }),
  fc.string({ unit: fc.constantFrom(...'`~@<>&|\n\r*_[]()#!:%,- \u202e\u0007') }),
  fc.constantFrom(
    '```',
    '`````',
    '```\n# heading @everyone',
    '~~~',
    '<img src=x onerror=alert(1)>',
    '\n\n@team <details>',
  ),
)
const problem = fc.record({
  code: fc.constantFrom(...CODES),
  file: fc.oneof(
    fc.constantFrom('a.yaml', '/checkout/b c.yaml', './d/ü%.yaml', '../e.yaml', '/f.yaml'),
    nasty,
  ),
  line: fc.integer({ min: 1, max: 1e6 }),
  column: fc.integer({ min: 1, max: 1e6 }),
  message: nasty,
  hint: fc.option(nasty, { nil: undefined }),
})
const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .record({ key: nasty, message: nasty, hint: nasty })
    .map((parts): Change => ({ kind: 'blocked', needsDecision: false, ...parts })),
  fc
    .record({ key: nasty, name: nasty })
    .map((parts): Change => ({ kind: 'prune', id: 'id', how: 'delete', createdAt: null, ...parts })),
  fc.record({ key: nasty, from: nasty, to: nasty }).map(({ key, from, to }): Change => {
    const fields = [{ pointer: '/name', from, to, reason: 'drift' }] as const
    return { kind: 'drifted', key, id: 'id', fields, shown: fields, looping: [] }
  }),
)
const planResult = fc.record({ changes: fc.array(change), withheld: fc.array(change), message: nasty }).map(
  ({ changes, withheld, message }): ShownPlan => ({
    plan: { changes, unchanged: [], owned: 0, kept: 0 },
    limited: {
      changes,
      withheld,
      tripped:
        withheld.length === 0
          ? []
          : [{ brake: 'maxDeletes', message, keys: withheld.map(({ key }) => key), approvable: true }],
    },
    digest: withheld.length === 0 ? null : 'a1b2c3d4e5f60718',
  }),
)

/** `markdown` without its fenced blocks, as CommonMark delimits them; throws when one is never closed. */
function outsideOfFences(markdown: string): readonly string[] {
  const outside: string[] = []
  let fence: string | undefined
  for (const line of markdown.split('\n')) {
    const run = /^(`{3,})/.exec(line)?.[1]
    if (fence === undefined && run !== undefined) fence = run
    else if (fence === undefined) outside.push(line)
    else if (/^`+\s*$/.test(line) && line.trim().length >= fence.length) fence = undefined
  }
  if (fence !== undefined) throw new Error('a block is not closed')
  return outside.filter((line) => line !== '')
}

const OURS = [
  /^### (Plan: |No changes: )[a-z0-9, ]+$/,
  /^\d+ problems? in the manifests:$/,
  /^\*\*Blocked by safety limits:\*\*$/,
  /^_\d+ more lines?: "pharos plan" shows all of it\._$/,
  /^To approve: `pharos apply … --approve ([0-9a-f]{16})`, or a commit whose message ends with `Pharos-Approve: \1`$/,
]

test('text from a manifest or a service is literal in the code block of a plan for a pull request', () => {
  fc.assert(
    fc.property(planResult, fc.array(problem), (planned, problems) => {
      const markdown = planMarkdown(planned, problems)

      const foreign = outsideOfFences(markdown).filter((line) => !OURS.some((own) => own.test(line)))
      expect(foreign).toEqual([])
    }),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(nasty, (message) => {
      expect(outsideOfFences(failureMarkdown(message))).toEqual(['### There is no plan'])
    }),
  )
})

test('a truncated plan for a pull request says how much was left out', () => {
  const changes = Array.from(
    { length: 5_000 },
    (_, index): Change => ({
      kind: 'blocked',
      key: `service-${index}`,
      message: 'ü'.repeat(index === 7 ? 100_000 : 20),
      hint: 'x',
      needsDecision: false,
    }),
  )
  const plan = { changes, unchanged: [], owned: 0, kept: 0 }

  const markdown = planMarkdown(
    { plan, limited: { changes, withheld: changes, tripped: [] }, digest: null },
    [],
  )

  const bytes = Buffer.byteLength(markdown)
  expect([bytes > 50_000, bytes <= 60_000]).toEqual([true, true])
  const shown = new Set(markdown.match(/^x service-\d+:/gm)).size
  expect(markdown).toContain(`_${5_000 - shown} more lines: "pharos plan" shows all of it._`)
})

test('an annotation for GitHub is one line, and its parts are escaped reversibly', () => {
  const unescaped = (text: string): string =>
    decodeURIComponent(text.replaceAll(/%(?!25|0D|0A|3A|2C)/g, '%25'))
  fc.assert(
    fc.property(problem, (one) => {
      const annotation = problemAnnotation(one, '/checkout')
      const parts = /^::(error|warning) file=([^,:]*),line=(\d+),col=(\d+),title=([^,:]+)::(.*)$/su.exec(
        annotation,
      )

      expect(/[\n\r]/.test(annotation)).toBe(false)
      expect(parts?.slice(3, 6)).toEqual([String(one.line), String(one.column), one.code])
      expect(unescaped(parts?.[6] ?? '')).toBe(
        `${one.message}${one.hint === undefined ? '' : ` (${one.hint})`}`,
      )
    }),
  )
  const at = { line: 2, column: 3, message: '100 %\nof it', hint: undefined, code: 'W_SAME_NAME' } as const
  expect(problemAnnotation({ ...at, file: '/checkout/a,b:c.yaml' }, '/checkout')).toBe(
    '::warning file=a%2Cb%3Ac.yaml,line=2,col=3,title=W_SAME_NAME::100 %25%0Aof it',
  )
})

/** The official schema, as the package @microsoft/sarif-multitool-linux 5.7.0 (MIT) brings it. */
const sarifSchema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/sarif-2.1.0.json'), 'utf8'),
)
const isSarif = new Ajv2020({
  strict: false,
  formats: {
    uri: (text: string) => URL.canParse(text),
    'uri-reference': (text: string) => URL.canParse(text, 'file:///'),
    uuid: true,
    'date-time': true,
  },
}).compile(sarifSchema)

test('a SARIF log is valid by the official schema of version 2.1.0, whatever its results', () => {
  const message = fc.option(nasty, { nil: undefined })
  fc.assert(
    fc.property(fc.array(problem), message, (problems, text) => {
      const log = JSON.parse(JSON.stringify(sarifLog({ problems, exitCode: 7, message: text }, '/checkout')))

      isSarif(log)

      expect(isSarif.errors ?? []).toEqual([])
    }),
  )
  expect(isSarif({ version: '2.1.0', runs: [{ results: [] }] })).toBe(false)
})

test('every result of a SARIF log has its rule, message and place', () => {
  fc.assert(
    fc.property(fc.array(problem), (problems) => {
      const log = JSON.parse(
        JSON.stringify(sarifLog({ problems, exitCode: 7, message: undefined }, '/checkout')),
      )

      expect(log).toMatchObject({ version: '2.1.0', runs: [{ tool: { driver: { name: 'pharos' } } }] })
      const [{ tool, results, invocations }] = log.runs
      expect(invocations).toEqual([{ executionSuccessful: true, exitCode: 7 }])
      expect(results).toHaveLength(problems.length)
      const ids = tool.driver.rules.map((rule: { id: string }) => rule.id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const [index, result] of results.entries()) {
        const { artifactLocation, region } = result.locations[0].physicalLocation
        expect(['error', 'warning']).toContain(result.level)
        expect(ids[result.ruleIndex]).toBe(result.ruleId)
        expect(typeof result.message.text).toBe('string')
        expect(region).toEqual({ startLine: problems[index]?.line, startColumn: problems[index]?.column })
        // An absolute URI or a reference, in either case without a character that no URI has.
        expect(artifactLocation.uri).toMatch(/^(file:\/\/)?[\w!'()*.~%/-]*$/)
        expect(artifactLocation.uri.startsWith('file:///')).toBe(artifactLocation.uriBaseId === undefined)
      }
    }),
  )
})

test('a SARIF log of a command that could not run says so', () => {
  const log = JSON.parse(JSON.stringify(sarifLog({ problems: [], exitCode: 1, message: 'no key' }, '/')))
  expect(log.runs[0].invocations).toEqual([
    {
      executionSuccessful: false,
      exitCode: 1,
      toolExecutionNotifications: [{ level: 'error', message: { text: 'no key' } }],
    },
  ])
})
