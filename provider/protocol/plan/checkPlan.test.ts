import { expect, test } from 'vitest'
import type { Attributes } from '../authoring/schema.ts'
import { type ObjectValue, UNKNOWN } from '../values/value.ts'
import { checkPlan } from './checkPlan.ts'

const ATTRIBUTES: Attributes = {
  id: { type: 'string', computed: true },
  name: { type: 'string', required: true },
  note: { type: 'string', optional: true },
  secret: { type: 'string', optional: true, writeOnly: true },
  items: {
    nesting: 'list',
    optional: true,
    attributes: {
      key: { type: 'string', required: true },
      hint: { type: 'string', optional: true },
      hash: { type: 'string', computed: true },
    },
  },
}

const CONFIG: ObjectValue = {
  id: null,
  name: 'a',
  note: null,
  secret: 's',
  items: [{ key: 'k', hint: null, hash: null }],
}
const GOOD: ObjectValue = {
  id: UNKNOWN,
  name: 'a',
  note: null,
  secret: null,
  items: [{ key: 'k', hint: null, hash: UNKNOWN }],
}

test('a plan that Terraform accepts has no faults', () => {
  expect(checkPlan(ATTRIBUTES, { planned: GOOD, config: CONFIG })).toStrictEqual([])
})

test('a value may be planned as it was instead of as configured', () => {
  const parts = { planned: { ...GOOD, name: 'A' }, config: CONFIG, prior: { ...GOOD, id: 'x', name: 'A' } }

  expect(checkPlan(ATTRIBUTES, parts)).toStrictEqual([])
})

test.each<[string, ObjectValue, (string | number)[]]>([
  ['must be planned as configured, or with its prior value', { name: 'b' }, ['name']],
  ['must be planned as configured, or with its prior value', { name: UNKNOWN }, ['name']],
  ['is not configured and not computed, so it must be planned as null', { note: '' }, ['note']],
  ['is write-only, so it must be planned as null', { secret: 's' }, ['secret']],
  ['is write-only, so it must be planned as null', { secret: UNKNOWN }, ['secret']],
  ['is configured, so it must be planned with a known value', { items: UNKNOWN }, ['items']],
  ['must be planned with as many elements as configured', { items: [] }, ['items']],
  [
    'is not configured and not computed, so it must be planned as null',
    { items: [{ key: 'k', hint: 'x', hash: 'y' }] },
    ['items', 0, 'hint'],
  ],
])('%s: %j', (message, change, path) => {
  const faults = checkPlan(ATTRIBUTES, { planned: { ...GOOD, ...change }, config: CONFIG })

  expect(faults).toStrictEqual([{ path, message }])
})
