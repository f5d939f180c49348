import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { problemsOf } from '../../../api/contract/problem.ts'
import { cases } from '../../../scripts/testing/torture.ts'
import { manifests, type PlainManifest } from '../../testing/manifestArbitrary.ts'
import { mappingOf } from '../mapping.ts'
import { descriptionOf, manifestJsonSchema } from './jsonSchema.ts'
import {
  defaultsManifestSchema,
  environmentManifestSchema,
  type KINDS,
  serviceDocumentSchema,
} from './serviceManifest.ts'

const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  validateFormats: false,
  keywords: ['patternErrorMessage'],
})
const accepts = ajv.compile(manifestJsonSchema())
const documents = z.union([serviceDocumentSchema, defaultsManifestSchema, environmentManifestSchema])

test('docs/manifest.schema.json equals the output of pharos schema', () => {
  const committed: unknown = JSON.parse(readFileSync('docs/manifest.schema.json', 'utf8'))
  // "npm run schema" writes it anew.
  expect(committed).toEqual(manifestJsonSchema())
})

/** Every path to a value of `value`. */
function pathsIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [path, ...steps.flatMap(([step, inner]) => pathsIn(inner, [...path, step]))]
}

type Mutation = 'delete' | 'rename' | { readonly to: unknown }

function mutated(value: unknown, [step, ...rest]: readonly (string | number)[], mutation: Mutation): unknown {
  if (step === undefined) return typeof mutation === 'object' ? mutation.to : value
  if (Array.isArray(value)) {
    if (rest.length === 0 && mutation === 'delete') return value.filter((_, index) => index !== step)
    return value.map((item, index) => (index === step ? mutated(item, rest, mutation) : item))
  }
  const entries = Object.entries(mappingOf(value) ?? {}).flatMap(([name, inner]): [string, unknown][] => {
    if (name !== step) return [[name, inner]]
    if (rest.length > 0 || typeof mutation === 'object') return [[name, mutated(inner, rest, mutation)]]
    return mutation === 'delete' ? [] : [[`${name}x`, inner]]
  })
  return Object.fromEntries(entries)
}

const mutation = fc.oneof(
  fc.constantFrom<Mutation>('delete', 'rename'),
  fc
    .constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      600,
      1.5,
      1e20,
      '',
      'x',
      'Service',
      '30s',
      '30',
      '< 1s',
      '2xx',
      [],
      [1],
      ['x'],
      {},
      { x: 1 },
      { env: 'A' },
      { env: '-' },
      { equals: 'a', contains: 'b' },
    )
    .map((to): Mutation => ({ to })),
)
const mutatedManifests = fc
  .tuple(manifests, fc.array(fc.tuple(mutation, fc.nat()), { maxLength: 2 }))
  .map(([manifest, mutations]) =>
    mutations.reduce<unknown>((value, [change, at]) => {
      const paths = pathsIn(value)
      return mutated(value, paths[at % paths.length] ?? [], change)
    }, manifest),
  )

test('Scenario 13: the JSON Schema accepts a manifest exactly when the program does', () => {
  let refused = 0
  fc.assert(
    fc.property(mutatedManifests, (manifest) => {
      const parsed = documents.safeParse(manifest)
      // That bounds are in order is arithmetic, which a JSON Schema has no words for.
      fc.pre(parsed.success || !problemsOf(parsed.error).some(({ message }) => message.includes('reversed')))
      if (!parsed.success) refused += 1

      expect({ manifest, isAccepted: accepts(manifest) }).toEqual({ manifest, isAccepted: parsed.success })
    }),
    { numRuns: cases(300, 4_000) },
  )
  expect(refused).toBeGreaterThan(cases(50, 1_000))
})

test.each(['500ms', '1.5s', '99999999h'])(
  'an interval of %s is refused only by the program, not by the schema: it takes arithmetic',
  (interval) => {
    const manifest = {
      apiVersion: 'pharos/v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { interval, regions: ['eu-west-1'], endpoints: [{ url: 'https://example.com/' }] },
    }
    expect([accepts(manifest), documents.safeParse(manifest).success]).toEqual([true, false])
  },
)

test('below spec and policy a variable may replace any single value', () => {
  const isScalar = (value: unknown): boolean => typeof value !== 'object'
  fc.assert(
    fc.property(manifests, fc.nat(), (manifest, at) => {
      fc.pre(manifest.kind !== 'Environment')
      const places = pathsIn(manifest).filter(
        (path) => ['spec', 'policy'].includes(String(path[0])) && isScalar(valueAt(manifest, path)),
      )
      fc.pre(places.length > 0)
      const place = places[at % places.length] ?? []
      expect({ place, isAccepted: accepts(mutated(manifest, place, { to: `\${var.x}` })) }).toEqual({
        place,
        isAccepted: true,
      })
    }),
    { numRuns: cases(100, 1_000) },
  )
})

function valueAt(manifest: PlainManifest, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return value[Number(step)]
    return mappingOf(value)?.[step]
  }, manifest)
}

/** Names of fields with the kind of their document, as the schema has them. */
function fieldsOf(
  value: unknown,
  kind: string,
  path: readonly string[],
): readonly { kind: string; path: readonly string[] }[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, kind, path))
  return Object.entries(mappingOf(value) ?? {}).flatMap(([keyword, inner]) => {
    if (keyword !== 'properties') {
      const named = keyword === 'additionalProperties' && typeof inner === 'object' ? [...path, '*'] : path
      return fieldsOf(inner, kind, named)
    }
    return Object.entries(mappingOf(inner) ?? {}).flatMap(([name, below]) => [
      { kind, path: [...path, name] },
      ...fieldsOf(below, kind, [...path, name]),
    ])
  })
}

const KIND_NAMES: typeof KINDS = ['Service', 'Defaults', 'Environment']
const ownFields = KIND_NAMES.flatMap((kind, index) => {
  const schema: { anyOf?: readonly unknown[] } = manifestJsonSchema()
  return fieldsOf(schema.anyOf?.[index], kind, [])
}).filter(({ path }) => !path.slice(0, -1).includes('raw'))

test('every field has a description, and every example of a field is valid in its place', () => {
  expect(ownFields.length).toBeGreaterThan(80)
  const silent = ownFields.filter((site) => descriptionOf(site) === undefined)
  expect(silent.map(({ kind, path }) => `${kind}: ${path.join('.')}`)).toEqual([])
  const shown = nodesWithExamples(manifestJsonSchema())
  expect(shown.length).toBeGreaterThan(40)
  expect(shown.flatMap((node) => node.examples.filter((example) => !ajv.validate(node, example)))).toEqual([])
})

function nodesWithExamples(value: unknown): readonly { readonly examples: readonly unknown[] }[] {
  if (typeof value !== 'object' || value === null) return []
  const own =
    'examples' in value && Array.isArray(value.examples) ? [{ ...value, examples: value.examples }] : []
  return [...own, ...Object.values(value).flatMap(nodesWithExamples)]
}

test('docs/manifests.md names every field of the JSON Schema', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/manifests.md'), 'utf8')
  const names = new Set(ownFields.map(({ path }) => path.at(-1) ?? '').filter((name) => name !== '*'))
  expect([...names].filter((name) => !/^(value|sensitive)$/.test(name) && !page.includes(name))).toEqual([])
})
