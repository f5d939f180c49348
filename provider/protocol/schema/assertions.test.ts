import { expect, test } from 'vitest'
import { resourceFor } from '../authoring/provider.ts'
import { type Attributes, defineSchema } from '../authoring/schema.ts'
import { defineProvider } from '../defineProvider.ts'
import { schemaFaults } from './assertions.ts'

test.each<[string, Attributes]>([
  ['a: is neither required, optional nor computed', { a: { type: 'string' } }],
  ['a: required excludes optional and computed', { a: { type: 'string', required: true, computed: true } }],
  [
    'a: a write-only value is never stored, so it cannot be computed',
    { a: { type: 'string', optional: true, computed: true, writeOnly: true } },
  ],
  [
    'a.b: Terraform allows no write-only attribute inside a set',
    {
      a: {
        nesting: 'set',
        optional: true,
        attributes: { b: { type: 'string', optional: true, writeOnly: true } },
      },
    },
  ],
  [
    'a.b: everything inside a write-only attribute is write-only',
    {
      a: {
        nesting: 'single',
        optional: true,
        writeOnly: true,
        attributes: { b: { type: 'string', optional: true } },
      },
    },
  ],
  [
    'a.b: elements of a set have no identity, so nothing inside can be computed',
    { a: { nesting: 'set', optional: true, attributes: { b: { type: 'string', computed: true } } } },
  ],
  [
    'a: stable applies to computed attributes, and this one is not computed',
    { a: { type: 'string', optional: true, stable: true } },
  ],
  ['count: is reserved by Terraform', { count: { type: 'number', optional: true } }],
  [
    'Upper: a name has lower-case letters, digits and underscores',
    { Upper: { type: 'string', optional: true } },
  ],
])('a schema is refused because %s', (fault, attributes) => {
  expect(schemaFaults({ attributes }, 'resource')).toStrictEqual([fault])
})

test('a provider with faults is refused with all of them', () => {
  const schema = defineSchema({ version: 2, attributes: { name: { type: 'string', required: true } } })
  const thing = resourceFor<null>()({
    schema,
    upgraders: { 1: (state) => state },
    read: () => null,
    create: () => ({ state: {} }),
    delete: () => undefined,
  })

  const define = () =>
    defineProvider({
      name: 'sample',
      version: '1.0.0',
      schema: { attributes: {} },
      configure: () => null,
      resources: { other_thing: thing },
    })

  expect(define).toThrow(
    [
      'provider sample cannot be served:',
      'other_thing: Terraform finds the provider of a type by its prefix, so the name must start with sample_',
      'other_thing: there is no upgrader from state version 0 to 1',
      'other_thing: name: there is no update handler, so a change must replace the resource',
    ].join('\n'),
  )
})
