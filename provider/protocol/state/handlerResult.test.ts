import { expect, test } from 'vitest'
import type { Attributes } from '../authoring/schema.ts'
import { type ObjectValue, UNKNOWN } from '../values/value.ts'
import { overlay, readResult, settle } from './handlerResult.ts'

const ATTRIBUTES: Attributes = {
  id: { type: 'string', computed: true },
  size: { type: 'number', optional: true, equal: (a, b) => Number(a) === Number(b) },
  parts: {
    nesting: 'map',
    optional: true,
    attributes: {
      color: { type: 'string', optional: true },
      serial: { type: 'string', computed: true },
    },
  },
  secret: { type: 'string', optional: true, writeOnly: true },
}

const PLANNED: ObjectValue = {
  id: UNKNOWN,
  size: 1,
  parts: new Map([['a', { color: 'red', serial: UNKNOWN }]]),
  secret: null,
}

test('a result fills in the unknown values of the plan, in nested objects too', () => {
  const { state: result } = readResult(ATTRIBUTES, { id: 'x', parts: { a: { serial: 'n1' } } }, 'partial')

  expect(settle(ATTRIBUTES, PLANNED, result)).toStrictEqual({
    state: { id: 'x', size: 1, parts: new Map([['a', { color: 'red', serial: 'n1' }]]), secret: null },
    faults: [],
  })
})

test('an attribute that the result leaves unknown is saved as null and named', () => {
  const settled = settle(ATTRIBUTES, PLANNED, { parts: new Map([['a', { serial: UNKNOWN }]]) })

  expect(settled).toStrictEqual({
    state: { id: null, size: 1, parts: new Map([['a', { color: 'red', serial: null }]]), secret: null },
    faults: [
      { path: ['id'], message: 'is not known after apply; it is saved as null' },
      { path: ['parts'], message: 'is unknown in the result; it is saved as null' },
    ],
  })
})

test('an attribute that the result contradicts is saved as planned and named', () => {
  const result = { id: 'x', size: 2, parts: new Map([['a', { color: 'blue', serial: 'n1' }]]), secret: 's' }

  expect(settle(ATTRIBUTES, PLANNED, result)).toStrictEqual({
    state: { id: 'x', size: 1, parts: new Map([['a', { color: 'red', serial: 'n1' }]]), secret: null },
    faults: [
      { path: ['size'], message: 'differs from what was planned; it is saved as planned' },
      { path: ['parts'], message: 'differs from what was planned; it is saved as planned' },
      { path: ['secret'], message: 'is write-only, so its value is not saved' },
    ],
  })
})

test('an attribute of the wrong type or without a place in the schema is left out and named', () => {
  const result = readResult(
    ATTRIBUTES,
    { id: 7, size: '2', extra: true, parts: { a: { color: [] } } },
    'partial',
  )

  expect(result).toStrictEqual({
    state: { size: 2 },
    faults: [
      { path: ['id'], message: 'expected string, found a number' },
      { path: ['extra'], message: 'the schema has no such attribute' },
      { path: ['parts', { key: 'a' }, 'color'], message: 'expected string, found an array' },
    ],
  })
})

test('a result is merged into the stored state, and attributes that it does not mention stay unchanged', () => {
  const stored = {
    id: 'x',
    size: 1,
    parts: new Map([
      ['a', { color: 'red', serial: 'n1' }],
      ['b', { color: 'red', serial: 'n2' }],
    ]),
    secret: null,
  }

  const merged = overlay(ATTRIBUTES, { parts: new Map([['b', { color: 'blue' }]]) }, stored)

  expect(merged).toStrictEqual({ ...stored, parts: new Map([['b', { color: 'blue', serial: 'n2' }]]) })
})
