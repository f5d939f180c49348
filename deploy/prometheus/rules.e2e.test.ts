import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONDITIONS } from '../../reconciler/controller/status/conditions.ts'
import { PROMTOOL, skipReason } from '../../server/testing/prometheusProcess.ts'
import { RULE_CASES } from './testing/ruleCases.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>
}

const FILES = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join(import.meta.dirname, name))

/** The rules of `file`. */
function rulesOf(file: string): readonly Rule[] {
  // True because promtool refuses any other form.
  const { groups } = load(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

const RULES = FILES.flatMap(rulesOf)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-rules-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The output of promtool. Throws with the output when promtool finds a fault. */
function promtool(...args: string[]): string {
  return execFileSync(PROMTOOL, args, { encoding: 'utf8', stdio: 'pipe' })
}

/** The cases of `rule` as promtool takes them. */
function unitTests({ alert, labels: ruleLabels, annotations }: Rule): readonly object[] {
  const { firing, quiet } = RULE_CASES[alert] ?? { firing: undefined, quiet: [] }
  const expanded = (labels: Readonly<Record<string, string>>): object =>
    Object.fromEntries(
      Object.entries(annotations).map(([name, text]) => [
        name,
        text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ''),
      ]),
    )
  const cases = [
    ...quiet.map((one) => ({ ...one, alerts: [] as object[] })),
    ...(firing === undefined
      ? []
      : [
          {
            ...firing,
            alerts: [
              {
                exp_labels: { ...firing.labels, ...ruleLabels },
                exp_annotations: expanded(firing.labels),
              },
            ],
          },
        ]),
  ]
  return cases.map(({ series, atMinute, alerts }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: `${atMinute}m`, alertname: alert, exp_alerts: alerts }],
  }))
}

test('every alert says what happened, what it means, how urgent it is, and links to its section of the page', () => {
  const page = readFileSync('docs/alerts.md', 'utf8')
  const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name)
  const address = 'https://pharos.example.com/docs/alerts.md'

  expect(RULES.map(({ alert }) => alert).sort()).toEqual([...sections].sort())
  expect(RULES.map(({ alert, annotations }) => ({ alert, runbook: annotations.runbook_url }))).toEqual(
    RULES.map(({ alert }) => ({ alert, runbook: `${address}#${alert.toLowerCase()}` })),
  )
  expect(
    RULES.filter(
      ({ annotations: { summary, description }, labels }) =>
        !(
          summary?.length > 10 &&
          description?.length > 10 &&
          /^(?:page|ticket)$/.test(labels.severity ?? '')
        ),
    ),
  ).toEqual([])
  expect(new Set(RULES.map(({ alert }) => alert)).size).toBe(RULES.length)
})

test.skipIf(skipReason !== null)(
  `the commands of the page replace the address in every link${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    const page = readFileSync('docs/alerts.md', 'utf8')
    const commands = /^```sh\n(.*?)^```$/ms.exec(page)?.[1] ?? ''
    symlinkSync(join(import.meta.dirname, '..'), join(folder, 'deploy'))

    const written = execFileSync('bash', ['-euc', commands], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })

    expect(written.match(/SUCCESS/g)).toHaveLength(FILES.length)
    const links = readdirSync(join(folder, 'rules')).flatMap((name) =>
      rulesOf(join(folder, 'rules', name)).map(({ annotations }) => annotations.runbook_url),
    )
    expect(links.length).toBe(RULES.length)
    expect(links.filter((link) => !link.startsWith('https://wiki.example.org/pharos/alerts.md#'))).toEqual([])
  },
)

test('every condition that a rule names exists in the controller', () => {
  const named = RULES.flatMap(({ expr }) =>
    [...expr.matchAll(/condition=~"([A-Za-z|]+)/g)].flatMap(([, names = '']) => names.split('|')),
  )

  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !(name in CONDITIONS))).toEqual([])
})

test('each rule has a case in which it fires and one in which it does not, and each case has a rule', () => {
  const withCases = Object.entries(RULE_CASES).filter(([, { quiet }]) => quiet.length > 0)

  expect(withCases.map(([alert]) => alert).sort()).toEqual(RULES.map(({ alert }) => alert).sort())
})

test.skipIf(skipReason !== null).each(FILES)(
  `promtool finds no fault with %s, and every rule fires when it should and only then${skipReason === null ? '' : ` (${skipReason})`}`,
  (file) => {
    const tests = join(folder, 'cases.yaml')
    const cases = rulesOf(file).flatMap(unitTests)
    writeFileSync(tests, dump({ rule_files: [file], evaluation_interval: '1m', tests: cases }))

    const checked = promtool('check', 'rules', '--lint=all', '--lint-fatal', file)

    expect(cases.length).toBeGreaterThan(5)
    expect(checked).toContain(`SUCCESS: ${rulesOf(file).length} rules found`)
    expect(promtool('test', 'rules', tests)).toContain('SUCCESS')
  },
)
