import { expect, test } from 'vitest'
import * as z from 'zod'
import { firstIgnoredField, formatPath, formatPointer, problemsOf } from './problem.ts'
import { tagged } from './tagged.ts'

test('a path is written as in code, and a key that is not an identifier is hidden', () => {
  expect([
    formatPath([]),
    formatPath(['endpoints', 0, 'call', 'Http', 'x-a']),
    formatPath([0, 'a']),
    formatPath(['headers', 'Bearer token', 'value']),
    formatPath(['x'.repeat(128)]),
    formatPath(['x'.repeat(129)]),
  ]).toEqual(['', 'endpoints[0].call.Http.x-a', '[0].a', 'headers.….value', 'x'.repeat(128), '…'])
})

test('a pointer escapes its special characters', () => {
  expect([formatPointer([]), formatPointer(['a', 0, 'b/c~d'])]).toEqual(['', '/a/0/b~1c~0d'])
})

function problems(schema: z.ZodType, value: unknown) {
  return problemsOf(schema.safeParse(value).error!)
}

test('each unknown field is a problem at its own path', () => {
  const schema = z.object({ a: z.strictObject({}) })

  expect(problems(schema, { a: { x: 1, y: 2 } })).toEqual([
    { path: ['a', 'x'], message: 'is not a known field' },
    { path: ['a', 'y'], message: 'is not a known field' },
  ])
})

const one = tagged({ A: z.object({ n: z.number({ error: 'must be a number' }) }), B: z.string() })

test.each([
  ['of the option that has its key', { A: { n: 'x' } }, [{ path: ['A', 'n'], message: 'must be a number' }]],
  [
    'of the key where no option has it',
    { C: 1 },
    [{ path: [], message: 'must have exactly one of the keys A, B' }],
  ],
  [
    'of the keys where there are two',
    { A: { n: 1 }, B: '' },
    [{ path: [], message: 'must have exactly one of the keys A, B' }],
  ],
  ['of the keys where it is no object', 5, [{ path: [], message: 'must have exactly one of the keys A, B' }]],
])('the problem of a tagged object is that %s', (_, value, expected) => {
  expect(problems(one, value)).toEqual(expected)
})

test('when several options of a union could be meant, the problem names none of them', () => {
  const union = z.union([z.object({ a: z.string() }), z.object({ a: z.boolean() })], { error: 'must be one' })

  expect(problems(union, { a: 1 })).toEqual([{ path: [], message: 'must be one' }])
})

test.each([
  [z.string(), 5, 'must be a string, not a number'],
  [z.string(), undefined, 'must be a string'],
  [z.number(), null, 'must be a number, not null'],
  [z.number(), Number.NaN, 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), '1', 'must be a number, not a string'],
  [z.boolean(), [], 'must be true or false, not an array'],
  [z.array(z.string()), {}, 'must be an array, not an object'],
  [z.tuple([z.string()]), 'a', 'must be an array, not a string'],
  [z.object({}), [], 'must be an object, not an array'],
  [z.number(), {}, 'must be a number, not an object'],
  [z.record(z.string(), z.string()), true, 'must be an object, not a boolean'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.number().positive(), 0, 'must be greater than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.null(), 5, 'must be null, not a number'],
  [z.int().max(1), 2, 'must be at most 1'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().length(1), '', 'must have exactly 1 character'],
  [z.string().min(2), 'a', 'must have at least 2 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().length(2), 'a', 'must have exactly 2 characters'],
  [z.array(z.string()).max(0), ['a'], 'must have at most 0 items'],
  [z.array(z.string()).min(2), ['a'], 'must have at least 2 items'],
  [z.guid(), 'x', 'must be a UUID'],
  [z.iso.datetime(), 'x', 'must be an instant such as 2026-01-31T12:00:00Z'],
  [z.string().regex(/^a$/), 'x', 'must be a text that matches /^a$/'],
  [z.base64(), '?', 'must be a text in the format base64'],
  [z.literal('a'), 'x', 'must be a'],
  [z.enum(['a', 'b']), 'x', 'must be one of a, b'],
  [z.union([z.string(), z.number()]), null, 'has none of the allowed forms'],
])(
  'a schema without a text of its own names what is expected and the type that was given (%#)',
  (schema, value, text) => {
    expect(problems(schema, value)).toEqual([{ path: [], message: text }])
  },
)

test.each([
  [{ a: 1 }, { a: 1 }, undefined],
  [{ a: 1, b: 2 }, { a: 1 }, ['b']],
  [{ a: { b: [1, { c: 1 }] } }, { a: { b: [1, {}] } }, ['a', 'b', 1, 'c']],
  [{ a: [{ b: 1 }], c: 1 }, { a: [{ b: 1 }] }, ['c']],
  [[{ a: 1 }], [{}], [0, 'a']],
  [{ a: null }, { a: null }, undefined],
  [{ a: { b: 1 } }, { a: null }, undefined],
  [{ a: { b: 1 } }, { a: [] }, undefined],
  [{ a: [1] }, { a: {} }, undefined],
  ['text', {}, undefined],
  [undefined, undefined, undefined],
])('the first field of %j that %j ignores is %j', (input, parsed, field) => {
  expect(firstIgnoredField(input, parsed)).toEqual(field)
})
