import { loadAll } from 'js-yaml'
import { expect, test } from 'vitest'
import { withServiceId } from './identityText.ts'

const ID = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'

test.each([
  [
    'a block',
    '# top\nmetadata:\n  # who\n  name: a   # the shop\n\n  labels: {}  # none\nspec: {x: "y" }   \n',
    '# top\nmetadata:\n  # who\n  name: a   # the shop\n  id: ID\n\n  labels: {}  # none\nspec: {x: "y" }   \n',
  ],
  ['braces', 'metadata: {name: a} # c\nspec:   1\n', 'metadata: {name: a, id: ID} # c\nspec:   1\n'],
  [
    'braces over several lines',
    'metadata: {\n  "name": "a", # first\n  labels: {b: c},\n }\n',
    'metadata: {\n  "name": "a", id: ID, # first\n  labels: {b: c},\n }\n',
  ],
  ['a quoted key', "metadata:\n    'name': 'a'\n", "metadata:\n    'name': 'a'\n    id: ID\n"],
  ['no line break at the end', 'metadata:\n  name: a', 'metadata:\n  name: a\n  id: ID'],
  [
    'CRLF and a byte order mark',
    '\uFEFFmetadata:\r\n  name: a\r\nspec: 1\r\n',
    '\uFEFFmetadata:\r\n  name: a\r\n  id: ID\r\nspec: 1\r\n',
  ],
  ['a name below its key', 'metadata:\n  name: >-\n    a\n', 'metadata:\n  name: >-\n    a\n  id: ID\n'],
  [
    'the second document',
    'metadata: {name: z}\n--- # next\nmetadata:\n  name: a\n',
    'metadata: {name: z}\n--- # next\nmetadata:\n  name: a\n  id: ID\n',
  ],
  ['letters outside ASCII', '# 🚀 ü\nmetadata: {name: a}\n', '# 🚀 ü\nmetadata: {name: a, id: ID}\n'],
])('an id is inserted after the name, and nothing else moves: %s', (what, text, expected) => {
  const index = what === 'the second document' ? 1 : 0
  const spliced = withServiceId(text, index, ID)
  expect(spliced).toBe(expected.replace('ID', ID))
  expect(loadAll(spliced ?? '')[index]).toMatchObject({ metadata: { name: 'a', id: ID } })
})

test.each([
  ['an alias', 'spec: &m {name: a}\nmetadata: *m\n'],
  ['an anchor that others use', 'metadata: &m {name: a}\nspec: *m\n'],
  ['no name', 'metadata: {}\n'],
  ['a complex key', 'metadata:\n  ? name\n  : a\n'],
  ['no YAML', 'metadata: {name: a\n'],
])('an id is not inserted where that would change anything else: %s', (_what, text) => {
  expect(withServiceId(text, 0, ID)).toBeUndefined()
})
