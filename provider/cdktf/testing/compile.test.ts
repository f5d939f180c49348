import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { importing, LIBRARIES } from '../../../scripts/buildBindings.mjs'
import { outsideProject } from '../../testing/outsideProject.ts'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The compiler's options of a program that is checked strictly. */
const STRICT = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  types: ['node'],
  skipLibCheck: false,
}

const outside = await outsideProject([
  ...LIBRARIES,
  'constructs',
  'typescript',
  '@types/node',
  'undici-types',
])
afterAll(() => outside.remove())

/** A folder with a program of its own for each library, so that one compilation is enough for both. */
function programs(): string {
  const folder = mkdtempSync(join(outside.folder, 'program-'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const library of LIBRARIES) mkdirSync(join(folder, library))
  return folder
}

/** The errors of the programs in `folder`, a line each. */
async function compile(folder: string, options: object): Promise<readonly string[]> {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
  const { output } = await outside.node('typescript/bin/tsc', '-p', folder, '--pretty', 'false')
  return output.split('\n').filter((line) => line.includes('error TS'))
}

/** A program as it is with `library`: only the names of what is imported differ. */
const programFor = (library: string, text: string): string =>
  importing(library, text).replaceAll("'pharos/cdktf'", `'pharos/${library}'`)

/** Writes programs that say everything that may be said. */
function writeRight(folder: string): void {
  const text = readFileSync(source('types/compiles.ts'), 'utf8')
  for (const library of LIBRARIES)
    writeFileSync(join(folder, library, 'compiles.ts'), programFor(library, text))
}

/** Writes the generated code and the layer for each library. */
function writeSources(folder: string): void {
  for (const library of LIBRARIES) {
    const sources = join(folder, library, 'sources')
    cpSync(source('../.gen'), join(sources, '.gen'), { recursive: true })
    for (const name of readdirSync(source('..')).filter((file) => file.endsWith('.ts'))) {
      cpSync(source(join('..', name)), join(sources, name))
    }
    writeFileSync(join(sources, 'package.json'), '{"type":"commonjs"}')
    for (const file of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
      const path = join(sources, file)
      if (!statSync(path).isFile()) continue
      writeFileSync(path, importing(library, readFileSync(path, 'utf8')))
    }
  }
}

/** The wrong statements of a program, each with everything that stands before the first of them. */
function wrongPrograms(text: string): readonly { readonly reason: string; readonly text: string }[] {
  const [head = '', ...statements] = text.split(/^\/\/ @ts-expect-error: /m)
  return statements.map((statement) => {
    const [reason = '', ...lines] = statement.split('\n')
    return { reason, text: `${head}${lines.join('\n')}` }
  })
}

describe(`the package as ${LIBRARIES.join(' and ')} see it`, () => {
  test('compiles valid programs with exactOptionalPropertyTypes too', async () => {
    const folder = programs()
    writeRight(folder)

    expect(await compile(folder, { ...STRICT, exactOptionalPropertyTypes: true })).toEqual([])
  })

  test('compiles valid programs, the generated code and the layer in strict mode, and refuses each invalid statement', async () => {
    const folder = programs()
    writeRight(folder)
    writeSources(folder)
    const wrong = wrongPrograms(readFileSync(source('types/doesNotCompile.ts'), 'utf8'))
    const files = LIBRARIES.flatMap((library) =>
      wrong.map(({ reason, text }, index) => ({
        file: join(library, `wrong${index}.ts`),
        reason: `${library}: ${reason}`,
        text: programFor(library, text),
      })),
    )
    for (const { file, text } of files) writeFileSync(join(folder, file), text)

    const errors = await compile(folder, { ...STRICT, allowImportingTsExtensions: true })
    const accepted = files.filter(({ file }) => !errors.some((error) => error.includes(`${file}(`)))
    const unexpected = errors.filter((error) => !files.some(({ file }) => error.includes(`${file}(`)))

    expect(wrong.length).toBeGreaterThan(40)
    expect(accepted.map(({ reason }) => reason)).toEqual([])
    expect(unexpected).toEqual([])
    // One error each: none is wrong for another reason than its own, such as an import that is missing.
    expect(errors.length).toBe(files.length)
  })
})
