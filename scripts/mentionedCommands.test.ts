import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { commandLine as agentCommandLine } from '../monitoring/program/commandLine.ts'
import { COMMANDS } from '../reconciler/cli/commandTable.ts'
import { EVERYWHERE, OPTIONS } from '../reconciler/cli/session/optionGroups.ts'
import { commandLine as serverCommandLine } from '../server/administration/commandLine.ts'
import { sourceFiles } from './testing/importGraph.ts'

/** Long options of a command, and its maximum number of arguments. */
interface Shape {
  readonly flags: ReadonlySet<string>
  readonly argumentsMax: number
}

/** Commands by name, including groups of commands; '' is the program itself. */
type Commands = ReadonlyMap<string, Shape>

function flagsIn(text: string): readonly string[] {
  return text.match(/(?<![\w-])--[a-z][a-z-]*[a-z]/g) ?? []
}

function commandsOf(command: Command, path = ''): readonly (readonly [string, Shape])[] {
  const argumentsMax = command.registeredArguments.length
  const flags = new Set(['--help', '--version', ...command.options.flatMap(({ long }) => long ?? [])])
  const below = command.commands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`.trim()))
  return [[path, { flags, argumentsMax }], ...below]
}

/** The commands of `pharos`, whose table becomes a command line only at run time. */
function pharosCommands(): Commands {
  const entries = COMMANDS.flatMap((entry): readonly (readonly [string, Shape])[] => {
    const own = [...entry.groups.flatMap((group) => OPTIONS[group]), ...(entry.options ?? []), ...EVERYWHERE]
    const flags = new Set([
      ...['--help', '--format'].slice(0, entry.formats === undefined ? 1 : 2),
      ...own.flatMap(([written]) => flagsIn(written)),
    ])
    const argumentsMax = entry.args.some(([name]) => name.includes('...'))
      ? Number.POSITIVE_INFINITY
      : entry.args.length
    return [entry.name, entry.formerName].flatMap((name) =>
      name === undefined ? [] : [[name, { flags, argumentsMax }] as const],
    )
  })
  const program = { flags: new Set(['--help', '--version']), argumentsMax: 0 }
  return new Map([['', program], ['state', program], ...entries])
}

/** The commands of `pharos-provider`, whose file runs when it is imported. */
function providerCommands(): Commands {
  const text = readFileSync('provider/cli.ts', 'utf8')
  const parts = text.split(/\.command\('/).slice(1)
  const help = new Set(['--help', '--version'])
  return new Map([
    ['', { flags: help, argumentsMax: 0 }],
    ...parts.map((part): [string, Shape] => [
      part.slice(0, part.indexOf("'")),
      { flags: new Set([...help, ...flagsIn(part)]), argumentsMax: 0 },
    ]),
  ])
}

const parts = { write: () => {}, writeError: () => {}, environment: {} }
const PROGRAMS: Readonly<Record<string, Commands>> = {
  pharos: pharosCommands(),
  'pharos-server': new Map(commandsOf(serverCommandLine(parts))),
  'pharos-agent': new Map(commandsOf(agentCommandLine(parts))),
  'pharos-provider': providerCommands(),
}

/** Texts that users read: sources without tests, and documents. */
const FILES = [
  ...sourceFiles().filter((file) => !/\.test\.ts$|\/testing\/|^bench\//.test(file)),
  ...execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md', 'deploy'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && file !== 'CHANGELOG.md' && existsSync(file) && !file.endsWith('.ts')),
]

/** A program and what follows it, to the end of the line or of the quotation. */
const MENTION =
  /(?<before>["`]|<code>|)(?<![-\w/.@])(?<program>pharos(?:-server|-agent|-provider)?) (?<rest>(?:--)?[a-z][^\n"`'|<>#;)&]*)/g

/** Commands of earlier versions, which messages name with their replacement. */
const REMOVED = ['rollback', 'rebaseline']

/** The fault in a mention; undefined when it is correct, or when it is prose and not a command. */
function fault(program: string, rest: string, isQuoted: boolean): string | undefined {
  const commands: Commands = PROGRAMS[program] ?? new Map()
  const words = rest.replaceAll('\\n', '\n').split('\n')[0]?.trim().split(/\s+/) ?? []
  const [first = '', second = ''] = words
  if (REMOVED.includes(first)) return undefined
  const isOfProgram = first.startsWith('--') || commands.size === 1
  const name = isOfProgram ? '' : [`${first} ${second}`, first].find((one) => commands.has(one))
  const shape = name === undefined ? undefined : commands.get(name)
  if (name === undefined || shape === undefined) return isQuoted ? `no command ${first}` : undefined
  const unknown = flagsIn(rest).filter((flag) => !shape.flags.has(flag))
  if (unknown.length > 0) return `no option ${unknown.join(', ')}`
  const following = words.slice(name === '' ? 0 : name.split(' ').length)
  const firstFlag = following.findIndex((word) => word.startsWith('-'))
  const given = firstFlag === -1 ? following : following.slice(0, firstFlag)
  return isQuoted && given.filter((word) => word !== '…').length > shape.argumentsMax
    ? `it takes at most ${shape.argumentsMax} arguments`
    : undefined
}

/** The text of `file`, with the lists of arguments in YAML as a shell would have them. */
function mentioningText(file: string): string {
  const text = readFileSync(file, 'utf8')
  if (!file.endsWith('.yaml')) return text
  return text.replaceAll(
    /\b(?:args|command): \[(.*)\]/g,
    (_, list: string) => `"${list.replaceAll(',', '')}"`,
  )
}

test('every command and option that a document or message names exists', () => {
  let mentions = 0
  const faults = FILES.flatMap((file) =>
    [...mentioningText(file).matchAll(MENTION)].flatMap(
      ({ groups: { before = '', program = '', rest = '' } = {} }) => {
        mentions += 1
        // In sources a backtick begins any text.
        const isQuoted = before !== '' && (before !== '`' || file.endsWith('.md'))
        const wrong = fault(program, rest, isQuoted)
        return wrong === undefined ? [] : [`${file}: ${program} ${rest}: ${wrong}`]
      },
    ),
  )

  expect(mentions).toBeGreaterThan(200)
  expect(faults).toEqual([])
})

/** Files that start other programs, list options of earlier versions, or are style sheets, whose variables look alike. */
const FOREIGN =
  /^(?:reconciler\/(?:git|source|state\/git)|server\/http\/openapi\/reference|scripts|examples|web|deploy)\/|\/replacedSpellings\.ts$|[sS]tyle\.ts$/
/** Options of npm, Node, gpg, git and pg_restore, and a misspelt one of a docstring. */
const FOREIGN_FLAGS = [
  ...['--no-save', '--save-dev', '--silent', '--ignore-scripts', '--allow-scripts'],
  '--experimental-sea-config',
  '--heap-growing-percent',
  '--clean',
  '--bare',
  '--export',
  ...['--batch', '--yes', '--local-user', '--output', '--detach-sign'],
  '--orgg',
]

test('every option that a message names without a command belongs to one', () => {
  const shapes = Object.values(PROGRAMS).flatMap((commands) => [...commands.values()])
  const known = new Set([...FOREIGN_FLAGS, ...shapes.flatMap(({ flags }) => [...flags])])
  const faults = FILES.filter((file) => !file.endsWith('.md') && !FOREIGN.test(file)).flatMap((file) =>
    flagsIn(readFileSync(file, 'utf8'))
      .filter((flag) => !known.has(flag))
      .map((flag) => `${file}: ${flag}`),
  )

  expect(known.size).toBeGreaterThan(80)
  expect(faults).toEqual([])
})
