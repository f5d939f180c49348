import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../api/testing/temporaryFolder.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { runProgram } from './testing/pharosProgram.ts'
import { runHere } from './testing/programHere.ts'

/**
 * Tells the most memory that a process had (KiB) when it ends, as Linux counts it since the program began: what
 * getrusage() says is never less than what the parent had.
 */
const TELL_MEMORY = `import { readFileSync } from 'node:fs'
process.on('exit', () => process.stderr.write('KiB ' + /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]))`
/** Maximum memory for checking one file (MiB). */
const MEMORY_MIB_MAX = 300
/** Node 24 lets more garbage pile up than Node 20 by default: the same sizes for both show what is needed (MiB). */
const HEAP = '--max-old-space-size=192 --max-semi-space-size=16'

const folder = suiteFolder()
beforeAll(() => {
  writeFileSync(join(folder, 'tellMemory.mjs'), TELL_MEMORY)
})

async function validated(path: string) {
  const run = await runProgram(['validate', path, '--json'], {
    NODE_OPTIONS: `${HEAP} --import ${join(folder, 'tellMemory.mjs')}`,
  })
  const { problems }: { problems: readonly Record<string, unknown>[] } = JSON.parse(run.stdout)
  return {
    exitCode: run.exitCode,
    problems: problems.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`),
    files: problems.map(({ file }) => basename(String(file), '.yaml')),
    memoryMib: Number(/KiB (\d+)/.exec(run.stderr)?.[1]) / 1_024,
  }
}

const HEAD = 'apiVersion: pharos/v1\nkind: Service\nmetadata: {name: a}\nspec:\n'
/** Different names of four letters. */
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    [17_576, 676, 26, 1].map((place) => String.fromCharCode(97 + (Math.floor(index / place) % 26))).join(''),
  )
const TOO_DEEP = 'E_LIMIT nesting is deeper than 32 levels'
const TOO_LONG = '1:1 E_LIMIT a list or a mapping has more than 1000 items'

/** What each file holds, and the one problem that is found in it. */
const BOMBS = [
  ['nested brackets', '['.repeat(100_000), `1:32 ${TOO_DEEP}`],
  [
    'nested mappings',
    Array.from({ length: 1_400 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''),
    `32:32 ${TOO_DEEP}`,
  ],
  [
    'billion laughs',
    `a: &a [x, x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *a]`).join('\n')}`,
    '2:10 E_ALIAS aliases are not supported',
  ],
  ['an alias of itself', 'a: &a [*a]\n', '1:8 E_ALIAS aliases are not supported'],
  ['chains of complex keys', '? '.repeat(500_000), `1:64 ${TOO_DEEP}`],
  [
    'a mapping of 200,000 keys',
    `${HEAD.replace('spec:\n', '')}spec: {${names(200_000).join(',')}}\n`,
    TOO_LONG,
  ],
  [
    '200,000 times the same key',
    `{${'a,'.repeat(200_000)}}`,
    '1:4 E_DUP_FIELD the field is already set in this mapping',
  ],
  [
    '100,000 wrong assertions',
    `${HEAD}  endpoints: [{assertions: [${'{a: 1},'.repeat(100_000)}]}]\n`,
    TOO_LONG,
  ],
  [
    'many short lists of wrong assertions',
    `${HEAD}  endpoints:\n${`    - assertions: [${'{},'.repeat(900)}]\n`.repeat(30)}`,
    '1:1 E_LIMIT the document has more than 20000 values',
  ],
  [
    '110,000 references to a variable that nothing closes',
    `${HEAD}  interval: 30s\n  regions: [a]\n  endpoints: [{url: "https://a/", body: "${`\${var.a:-`.repeat(110_000)}"}]\n`,
    '7:42 E_VARIABLE spec.endpoints[0].body has "${var." without a name and a closing brace',
  ],
] as const

test.each([
  ['first', BOMBS.slice(0, 6)],
  ['second', BOMBS.slice(6)],
] as const)(
  'Scenario 5: each YAML bomb of the %s half is refused for one reason, and all of them within 300 MB',
  async (half, bombs) => {
    const set = join(folder, half)
    mkdirSync(set)
    for (const [name, text] of bombs) writeFileSync(join(set, `${name}.yaml`), text)

    const { exitCode, files, problems, memoryMib } = await validated(set)

    const found = files.map((name, index) => [name, problems[index]])
    expect([exitCode, found.sort()]).toEqual([7, bombs.map(([name, , problem]) => [name, problem]).sort()])
    expect(memoryMib).toBeLessThan(MEMORY_MIB_MAX)
  },
)

test('Scenario 5: thousands of manifests with one name are reported in one line each', async () => {
  const path = join(folder, 'names.yaml')
  writeFileSync(path, Array(5_000).fill(manifestOf('a')).join('---\n'))

  const { exitCode, problems, memoryMib } = await validated(path)

  expect([exitCode, problems.length]).toEqual([7, 5_000])
  expect(problems[4_999]).toMatch(
    /E_DUP_KEY metadata.name is used twice: also at (?:\S+:\d+:\d+, ){3}4996 more$/,
  )
  expect(memoryMib).toBeLessThan(MEMORY_MIB_MAX)
})

test('Scenario 6: a file of 2 MiB is refused for its size, whatever its content, and the others are read', async () => {
  const set = join(folder, 'large')
  mkdirSync(set)
  writeFileSync(join(set, 'a.yaml'), '['.repeat(2 * 1024 * 1024))
  writeFileSync(join(set, 'b.yaml'), manifestOf('b'))

  const run = await runHere(['validate', set, '--json'])

  expect(JSON.parse(run.stdout)).toMatchObject({
    exitCode: 7,
    services: 1,
    problems: [
      { file: join(set, 'a.yaml'), code: 'E_LIMIT', message: 'the file has more than 1048576 bytes' },
    ],
  })
})

test('Scenario 6: a set of 70 MiB is refused for its size', async () => {
  const set = join(folder, 'heavy')
  mkdirSync(set)
  // Wrong at its beginning, so that not all of it is parsed.
  const text = '['.repeat(1024 * 1024)
  for (let file = 0; file < 70; file += 1)
    writeFileSync(join(set, `${String(file).padStart(2, '0')}.yaml`), text)

  const { exitCode, problems } = await validated(set)

  const tooHeavy = '1:1 E_LIMIT the files of the set have more than 67108864 bytes together'
  expect({ exitCode, problems }).toEqual({
    exitCode: 7,
    problems: [...Array(64).fill(`1:32 ${TOO_DEEP}`), ...Array(6).fill(tooHeavy)],
  })
})

test('Scenario 6: a set of 60,000 documents is refused', async () => {
  const set = join(folder, 'many')
  mkdirSync(set)
  for (const file of ['a', 'b']) writeFileSync(join(set, `${file}.yaml`), 'a\n---\n'.repeat(30_000))

  const { exitCode, problems } = await validated(set)

  expect({ exitCode, problems }).toEqual({
    exitCode: 7,
    problems: ['1:1 E_LIMIT the set has more than 50000 documents'],
  })
})
