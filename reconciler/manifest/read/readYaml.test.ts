import fc from 'fast-check'
import { dump } from 'js-yaml'
import { expect, test } from 'vitest'
import { cases } from '../../../scripts/testing/torture.ts'
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

test('files that are read together give the same documents as each read alone', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (texts) => {
      const sources = texts.map(
        (text, index): ManifestFile => ({ file: `${index}.yaml`, directory: '', text }),
      )
      expect(readYamlFiles(sources)).toEqual(sources.map((source) => readYaml(source)))
    }),
    { numRuns: cases(100, 400) },
  )
})
