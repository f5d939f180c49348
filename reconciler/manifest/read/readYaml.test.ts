import fc from 'fast-check'
import { dump } from 'js-yaml'
import { expect, test } from 'vitest'
import { manifests } from '../../testing/manifestArbitrary.ts'
import { type ManifestFile, readYaml, readYamlFiles } from './readYaml.ts'

const piece = fc.oneof(
  { weight: 6, arbitrary: manifests.map((manifest) => dump(manifest)) },
  fc.constantFrom(
    '',
    '\n',
    '# nothing\n',
    'a: [\n',
    'a: "x\n',
    "a: 'x\n",
    '---\na: 1\n',
    'a: 1\n---\nb: 2\n',
    'a: 1\n...\n',
    '%YAML 1.2\n---\na: 1\n',
    '\uFEFFa: 1\n',
    'a: 1',
    'a: |\n  x\n\n\n',
    'a: |+\n  x\n\n',
    'a: >-\n  x\n',
    'a: &x 1\nb: *x\n',
    'a: 1\na: 2\n',
    'a: b\n c\n',
    '- 1\n',
    'x\n',
    '  a: 1\n',
    'a: !!str 1\n',
    '&x a: 1\n',
    '!t a\n',
    '? a\n',
    'a:\n',
    '\ta: 1\n',
    '"a\n---\nb"\n',
    '{a: 1,\n',
    '}\n',
    '--- a\n',
    '...\n',
    '# c\r\na: 1\r\n',
    'a: |\n  x\n ---\n',
  ),
  fc.string(),
)

test('files that are read together are what each is alone', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (texts) => {
      const sources = texts.map(
        (text, index): ManifestFile => ({ file: `${index}.yaml`, directory: '', text }),
      )
      expect(readYamlFiles(sources)).toEqual(sources.map((source) => readYaml(source)))
    }),
    { numRuns: 400 },
  )
})

const read = (text: string, aliasesMax: number) => {
  const { documents, problems } = readYaml({ file: 'a.yaml', directory: '', text }, { aliasesMax })
  return {
    values: documents.map(({ value }) => value),
    problems: problems.map(({ code, line, column, message }) => `${line}:${column} ${code} ${message}`),
  }
}

test('as many aliases are written out as are allowed, in each document', () => {
  const text = 'a: &x [1]\nb: *x\n---\na: &x 2\nb: *x\n'
  expect(read(text, 1)).toEqual({
    values: [
      { a: [1], b: [1] },
      { a: 2, b: 2 },
    ],
    problems: [],
  })
  expect(read('a: &x 1\nb: *x\nc: *x\n', 1).problems).toEqual([
    '3:4 E_ALIAS the document has more than 1 aliases',
  ])
})

test('allowed aliases make no document that grows without end', () => {
  const laughs = `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}\n`
  expect(read(laughs, 100)).toEqual({
    values: [],
    problems: ['1:1 E_ALIAS aliases make more than 100000 values of it'],
  })
  expect(read('a: 1\n---\nb: &b [*b]\n', 100)).toEqual({
    values: [{ a: 1 }],
    problems: ['3:1 E_ALIAS an alias stands inside what it stands for'],
  })
})
