import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SchemaDocument } from '../docs/schemaDocument.ts'
import { breakingChanges } from './breakingChanges.ts'

/** Schemas of released versions by version. A release adds its `provider-schema.json`. */
const RELEASED = 'fixtures/provider-schema'

const read = (file: string): SchemaDocument => JSON.parse(readFileSync(file, 'utf8'))

test.each(readdirSync(RELEASED))('Scenario 74: the schema is compatible with that of %s', (released) => {
  expect(breakingChanges(read(join(RELEASED, released)), read('provider/provider-schema.json'))).toEqual([])
})

const document = (version: number, attributes: object): SchemaDocument => ({
  provider_schemas: {
    'example.com/a/a': {
      provider: { version: 0, block: { attributes: {} } },
      resource_schemas: { a_thing: { version, block: { attributes } } },
    },
  },
})

test.each<[string, object, readonly string[]]>([
  ['removed', {}, ['a_thing.size is gone']],
  ['of another type', { size: { type: 'string', optional: true } }, ['a_thing.size has another type']],
  ['required', { size: { type: 'number', required: true } }, ['a_thing.size became required']],
  [
    'only computed',
    { size: { type: 'number', computed: true } },
    ['a_thing.size can no longer be configured'],
  ],
  [
    'joined by a required one',
    { size: { type: 'number', optional: true }, name: { type: 'string', required: true } },
    ['a_thing.name is new and required'],
  ],
  [
    'joined by an optional one',
    { size: { type: 'number', optional: true }, name: { type: 'string', optional: true } },
    [],
  ],
])('an attribute that is %s is reported', (_change, attributes, breaks) => {
  const before = document(0, { size: { type: 'number', optional: true } })

  expect(breakingChanges(before, document(0, attributes))).toEqual(breaks)
  expect(breakingChanges(before, document(1, attributes))).toEqual([])
})
