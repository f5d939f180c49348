import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manifestJsonSchema } from './jsonSchema.ts'

test('the JSON Schema is a draft-7 schema that knows every kind and refuses unknown fields', () => {
  const text = JSON.stringify(manifestJsonSchema())
  expect(text).toContain('http://json-schema.org/draft-07/schema#')
  for (const kind of ['Service', 'Defaults', 'Environment']) expect(text).toContain(`"const":"${kind}"`)
  expect(text).toContain('"additionalProperties":false')
})

test('the page about manifests names every field of the JSON Schema', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/manifests.md'), 'utf8')
  const fields = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('properties' in value && typeof value.properties === 'object' && value.properties !== null) {
      for (const name of Object.keys(value.properties)) fields.add(name)
    }
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(manifestJsonSchema())
  // Names with a capital are the API's own, which raw takes, and so are these parts of them.
  const ownFields = [...fields].filter(
    (name) => !/^[A-Z]|^(expected|l_type|matcher|secs|nanos|value|sensitive)$/.test(name),
  )
  expect(ownFields.filter((name) => !page.includes(name))).toEqual([])
})
