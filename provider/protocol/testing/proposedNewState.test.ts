import { expect, test } from 'vitest'
import type { Attributes } from '../authoring/schema.ts'
import { proposedNewState } from './proposedNewState.ts'

const ATTRIBUTES: Attributes = {
  id: { type: 'string', computed: true },
  note: { type: 'string', optional: true },
  color: { type: 'string', optional: true, computed: true },
  items: {
    nesting: 'list',
    optional: true,
    computed: true,
    attributes: { key: { type: 'string', optional: true }, hash: { type: 'string', computed: true } },
  },
  marks: {
    nesting: 'set',
    optional: true,
    attributes: { key: { type: 'string', optional: true }, hash: { type: 'string', computed: true } },
  },
}

const PRIOR = {
  id: 'x',
  note: 'n',
  color: 'red',
  items: [{ key: 'a', hash: '1' }],
  marks: [
    { key: 'a', hash: '1' },
    { key: 'b', hash: '2' },
  ],
}
const NONE = { id: null, note: null, color: null, items: null, marks: null }

test('computed attributes that are not configured keep their prior value, and the others are as configured', () => {
  expect(proposedNewState(ATTRIBUTES, PRIOR, NONE)).toStrictEqual({
    id: 'x',
    note: null,
    color: 'red',
    items: null,
    marks: null,
  })
})

test('nested objects are merged by index, and those of sets by their values', () => {
  const config = {
    ...NONE,
    items: [
      { key: 'b', hash: null },
      { key: 'c', hash: null },
    ],
    marks: [
      { key: 'b', hash: null },
      { key: 'c', hash: null },
    ],
  }

  expect(proposedNewState(ATTRIBUTES, PRIOR, config)).toStrictEqual({
    id: 'x',
    note: null,
    color: 'red',
    items: [
      { key: 'b', hash: '1' },
      { key: 'c', hash: null },
    ],
    marks: [
      { key: 'b', hash: '2' },
      { key: 'c', hash: null },
    ],
  })
})

test('a create is proposed as configured', () => {
  const config = { ...NONE, note: 'n', items: [{ key: 'a', hash: null }] }

  expect(proposedNewState(ATTRIBUTES, null, config)).toStrictEqual(config)
})
