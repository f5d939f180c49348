import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { commandLine as agentCommandLine } from '../monitoring/program/commandLine.ts'
import { commandLine as serverCommandLine } from '../server/administration/commandLine.ts'
import { sourceFiles } from './testing/importGraph.ts'

const PAGE = 'docs/environment.md'

/** Programs, tests and benchmarks. The pages of examples list the variables of the examples. */
const READERS = sourceFiles().filter(
  (file) => !/^(?:examples|scripts\/demo)\//.test(file) && file !== 'scripts/environment.test.ts',
)

/** Files that only tests use. Their `env` objects are environments of started programs. */
const OF_TESTS = /\.test\.ts$|\/testing\/|^bench\//

/** Reads of the process's environment, anywhere. */
const READS = [/\bprocess\.env\??\.(\w+)/g, /\bsetting\('(\w+)'/g]
/** Reads of an environment that was passed in, and names in a table that are read later. */
const PASSED_READS = [
  /\b(?:env|environment)\??\.([A-Z][A-Z0-9_]+)/g,
  /'((?:PHAROS|PLUGIN|TF)_[A-Z0-9_]*[A-Z0-9])'/g,
]
/** Several names at once: `const { A, B = '1' } = env`, and lists of variables for another program. */
const DESTRUCTURED = /\{([^{}]*)\} = (?:process\.env|env|environment)\n/g
const PASSED_ON = /PASSED_ON = \[([^\]]*)\]/g

function captured(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}

function variablesIn(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [
    ...READS.flatMap((pattern) => captured(text, pattern)),
    ...(OF_TESTS.test(file) ? [] : PASSED_READS.flatMap((pattern) => captured(text, pattern))),
    ...captured(text, DESTRUCTURED).flatMap((members) => captured(members, /(?:^|,)\s*([A-Z][A-Z0-9_]+)/g)),
    ...captured(text, PASSED_ON).flatMap((names) => captured(names, /'(\w+)'/g)),
  ]
}

/** The rows of the page's tables: the variables of each, and its other cells. */
function documentedRows(section = ''): readonly { names: readonly string[]; cells: string }[] {
  const page = readFileSync(PAGE, 'utf8')
  const text = page.slice(page.indexOf(section))
  return [...text.matchAll(/^\| (`.+?) \| (.*) \|$/gm)].map(([, names = '', cells = '']) => ({
    names: captured(names, /`(\w+)`/g),
    cells,
  }))
}

const parts = { write: () => {}, writeError: () => {}, environment: {} }
const PROGRAMS = [
  ['pharos-server', serverCommandLine(parts)],
  ['pharos-agent', agentCommandLine(parts)],
] as const

function optionsOf(command: Command): Command['options'] {
  return [...command.options, ...command.commands.flatMap(optionsOf)]
}

test('docs/environment.md has each variable that a program reads, and no other', () => {
  const ofOptions = PROGRAMS.flatMap(([, commands]) => optionsOf(commands)).flatMap(
    ({ envVar }) => envVar ?? [],
  )
  const read = new Set([...READERS.flatMap(variablesIn), ...ofOptions])
  const documented = new Set(documentedRows().flatMap(({ names }) => names))

  expect(read.size).toBeGreaterThan(50)
  expect(
    [...read].filter((name) => !documented.has(name)),
    `read, but not in ${PAGE}`,
  ).toEqual([])
  expect(
    [...documented].filter((name) => !read.has(name)),
    `in ${PAGE}, but never read`,
  ).toEqual([])
})

test.each(PROGRAMS)('docs/environment.md has the options and defaults of %s', (program, commands) => {
  const rows = documentedRows(`## ${program}\n`)
  const wrong = optionsOf(commands)
    .filter(({ envVar }) => envVar !== undefined)
    .filter(({ envVar = '', long, defaultValue }) => {
      const cells = rows.find(({ names }) => names.includes(envVar))?.cells ?? ''
      const isScalar = typeof defaultValue === 'string' || typeof defaultValue === 'number'
      const [option = '', usual = ''] = cells.split(' | ')
      return option !== `\`${long}\`` || (isScalar && !usual.includes(String(defaultValue)))
    })

  expect(wrong.map(({ envVar, long, defaultValue }) => ({ envVar, long, defaultValue }))).toEqual([])
})
