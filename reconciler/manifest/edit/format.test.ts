import fc from 'fast-check'
import { dump, loadAll } from 'js-yaml'
import { expect, test } from 'vitest'
import { cases } from '../../../scripts/testing/torture.ts'
import { manifests, type PlainManifest } from '../../testing/manifestArbitrary.ts'
import { formattedManifest } from './format.ts'

test('fields are sorted together with the comments above them, and nothing else moves', () => {
  const text = `\uFEFF# What this is.\r
spec:\r
  interval: 30s   \r
  # kept here\r
  regions: [eu-west-1]  # and here\r
\r
\r
# Who asked.\r
metadata: {name: a}\r
kind: Service\r
\r
"apiVersion": pharos/v1\r
---\r
kind: Defaults\r
# version\r
apiVersion: pharos/v1\r
spec:\r
  body: |\r
    a   \r
\r
\r
    b\r
`
  expect(formattedManifest(text)).toBe(`# What this is.
"apiVersion": pharos/v1
kind: Service

# Who asked.
metadata: {name: a}
spec:
  interval: 30s
  # kept here
  regions: [eu-west-1]  # and here
---
# version
apiVersion: pharos/v1
kind: Defaults
spec:
  body: |
    a   


    b
`)
})

test('blank lines at the end of a document stay, and those above a field move with it', () => {
  const text = 'metadata: {name: a}\nkind: Service\n\n\n---\nspec: {}\n\nkind: Service\n'

  expect(formattedManifest(text)).toBe('kind: Service\nmetadata: {name: a}\n\n---\nkind: Service\nspec: {}\n')
})

test.each(['a: [\n', 'a: &x 1\nb: *x\n', 'a: 1\na: 2\n'])(
  '%j is not a manifest and is not changed',
  (text) => {
    expect(formattedManifest(text)).toBeUndefined()
  },
)

/** A manifest as a person may have written it: fields in any order, comments and blanks anywhere. */
const written: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(fc.tuple(manifests, fc.infiniteStream(fc.nat({ max: 30 }))), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', '\uFEFF'),
    fc.constantFrom('', '\n', '\n\n\n'),
  )
  .map(([documents, lineBreak, mark, end]) => {
    const texts = documents.map(([manifest, noise]) => noisy(shuffled(manifest, noise), noise))
    return `${mark}${texts.join('---\n').replaceAll('\n', lineBreak)}${end}`
  })

function shuffled(manifest: PlainManifest, noise: fc.Stream<number>): PlainManifest {
  const entries = Object.entries(manifest).map((entry) => ({ entry, at: next(noise) }))
  return Object.fromEntries(entries.sort((a, b) => a.at - b.at).map(({ entry }) => entry))
}

function next(noise: fc.Stream<number>): number {
  return [...noise.take(1)][0] ?? 0
}

/** Comments and blanks between and after lines, where they change nothing that a parser would tell. */
function noisy(manifest: PlainManifest, noise: fc.Stream<number>): string {
  const text = dump(manifest, { lineWidth: 60 })
  const lines = text.split('\n').flatMap((line) => {
    const variants = [
      `${line}   `,
      `\n${line}`,
      `\n\n\n${line}`,
      `# c${next(noise)}\n${line}`,
      `  # c\n${line}`,
      `${line} # c`,
    ]
    return (variants[next(noise)] ?? line).split('\n')
  })
  const changed = `${lines.join('\n')}\n`
  return isSame(changed, manifest) ? changed : text
}

function isSame(text: string, manifest: PlainManifest): boolean {
  try {
    const [value] = loadAll(text)
    return JSON.stringify(value) === JSON.stringify(manifest)
  } catch {
    return false
  }
}

test('formatting changes neither values nor comments, and is idempotent', () => {
  let changed = 0
  fc.assert(
    fc.property(written, (text) => {
      const formatted = formattedManifest(text)
      if (formatted !== text) changed += 1

      expect(formatted).toBeDefined()
      expect(loadAll(formatted ?? '')).toEqual(loadAll(text))
      expect(formattedManifest(formatted ?? '')).toBe(formatted)
      expect(commentsIn(formatted ?? '')).toEqual(commentsIn(text))
    }),
    { numRuns: cases(30, 200) },
  )
  expect(changed).toBeGreaterThan(cases(10, 100))
})

test('any text is formatted without a change of its meaning, or left as it is', () => {
  let formattedTexts = 0
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab:-#"\' \n\t\r|>[]{},?!&*%.\uFEFF') }), (text) => {
      const formatted = formattedManifest(text)
      if (formatted === undefined) return
      formattedTexts += 1

      expect(loadAll(formatted)).toEqual(loadAll(text))
      expect(formattedManifest(formatted)).toBe(formatted)
    }),
    { numRuns: cases(200, 2_000) },
  )
  expect(formattedTexts).toBeGreaterThan(cases(50, 200))
})

function commentsIn(text: string): readonly string[] {
  return [...text.matchAll(/#\s*(c\d*)\s*$/gm)].map(([, comment = '']) => comment).sort()
}
