import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Assertion } from './assertion.ts'
import { incidentRequestSchema, incidentUpdateRequestSchema } from './incident.ts'
import { problemsOf } from './problem.ts'
import { serviceRequestSchema } from './service.ts'
import { isLongerThan, limitedText, readableText, readableTextProblem } from './text.ts'

type Http = Record<string, unknown>

function service(changes: Record<string, unknown>, endpoint: Record<string, unknown> = {}, http: Http = {}) {
  const call = { Http: { method: 'GET', timeout: null, ...http } }
  const endpoints = [{ url: 'https://example.com/', call, assertions: [], ...endpoint }]
  return serviceRequestSchema.safeParse({
    name: 'shop',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints,
    ...changes,
  })
}

const incident = (changes: Record<string, unknown>) =>
  incidentRequestSchema.safeParse({
    title: 'Slow',
    message: 'We look.',
    severity: 'major_outage',
    service_ids: ['00000000-0000-4000-8000-000000000000'],
    ...changes,
  })

const assertion = (one: Assertion) => service({}, { assertions: [one] })

/** A field, its schema, its limit, and characters to repeat, with the units that each counts for. */
const FIELDS = [
  ['name of a service', (text: string) => service({ name: text }), 255, 'code points', 'a'],
  ['name of an endpoint', (text: string) => service({}, { name: text }), 255, 'code points', 'a'],
  [
    'url',
    (text: string) => service({}, { url: `https://example.com/${text}` }),
    2_048 - 'https://example.com/'.length,
    'code points without blanks',
    '',
  ],
  ['body', (text: string) => service({}, {}, { body: { value: text } }), 65_536, 'bytes', ''],
  [
    'value of a header',
    (text: string) => service({}, {}, { headers: { A: { value: text } } }),
    8_192,
    'Latin-1',
    '',
  ],
  ['Equals', (text: string) => assertion({ Body: { matcher: { Equals: text } } }), 8_192, 'code points', ''],
  ['Regex', (text: string) => assertion({ Body: { matcher: { Regex: text } } }), 1_024, 'code points', ''],
  ['title', (text: string) => incident({ title: text }), 500, 'code points', 'a'],
  ['message', (text: string) => incident({ message: text }), 20_000, 'code points', 'a'],
  [
    'body of an update',
    (text: string) => incidentUpdateRequestSchema.safeParse({ body: text, status: 'resolved' }),
    20_000,
    'code points',
    'a',
  ],
] as const

const CHARACTERS = { blank: ' ', 'two bytes': 'é', 'three bytes': '€', 'surrogate pair': '😀' } as const

describe.each(FIELDS)('%s', (_field, read, max, unit, start) => {
  const fits = Object.entries(CHARACTERS).filter(([name, character]) => {
    if (unit === 'Latin-1') return character <= 'ÿ'
    return unit !== 'code points without blanks' || name !== 'blank'
  })

  test.each(fits)(`is measured in ${unit}, in its stored form: %s`, (_name, character) => {
    const size = unit === 'bytes' ? Buffer.byteLength(character) : 1
    const count = Math.floor(max / size) - start.length

    const atTheLimit = read(start + character.repeat(count))
    const above = read(start + character.repeat(count + 1))

    expect(atTheLimit.success).toBe(true)
    expect(above.success).toBe(false)
    expect(problemsOf(above.error!)[0]?.message).toMatch(/^must have at most \d+ (characters|bytes)$/)
  })
})

test('a million blanks do not bypass a limit', () => {
  const blanks = ' '.repeat(1_000_001)
  const results = [
    service({ name: blanks }),
    service({ name: `${blanks}a` }),
    service({}, { name: blanks }),
    incident({ title: `a${blanks}` }),
    incident({ message: blanks }),
    incidentUpdateRequestSchema.safeParse({ body: `a${blanks}`, status: 'resolved' }),
  ]

  expect(results.map(({ error }) => problemsOf(error!)[0]?.message)).toEqual([
    'must have at most 255 characters',
    'must have at most 255 characters',
    'must have at most 255 characters',
    'must have at most 500 characters',
    'must have at most 20000 characters',
    'must have at most 20000 characters',
  ])
})

test('leading and trailing blanks are kept, and count towards the length', () => {
  const name = `  ${'a'.repeat(251)}  `

  expect([service({ name }).data?.name, service({ name: `${name} ` }).success]).toEqual([name, false])
})

test('the name of a header assertion has at most 128 characters', () => {
  const named = (length: number) =>
    assertion({ Header: { name: 'x'.repeat(length), matcher: { Equals: '' } } }).success

  expect([named(128), named(129)]).toEqual([true, false])
})

test('a length is counted in code points, not in UTF-16 units', () => {
  expect([isLongerThan('😀😀', 2), isLongerThan('😀😀a', 2), isLongerThan('😀a', 2)]).toEqual([
    false,
    true,
    false,
  ])
})

test.each([
  ['a', 'one line', false, undefined],
  ['', 'one line', true, undefined],
  ['', 'one line', false, 'must not be empty'],
  [' ', 'one line', false, 'must not be empty'],
  [' ', 'one line', true, 'must have a visible character'],
  ['\u200b', 'one line', false, 'must have a visible character'],
  ['a\nb', 'many lines', false, undefined],
  ['a\nb', 'one line', false, 'must not contain the line break U+000A (character 2)'],
  ['abcdef', 'one line', false, 'must have at most 5 characters'],
] as const)('text for people may be %j in %s (empty: %s): %s', (text, lines, mayBeEmpty, problem) => {
  expect(readableTextProblem(text, { charsMax: 5, lines, mayBeEmpty })).toBe(problem)
})

test('a value that is not a text is refused with the rule of its field', () => {
  const error = 'must be a string or null'
  const messageOf = (schema: z.ZodType) => problemsOf(schema.safeParse(5).error!)

  expect([
    messageOf(limitedText(5)),
    messageOf(readableText({ charsMax: 5, lines: 'one line' })),
    messageOf(readableText({ charsMax: 5, lines: 'one line', error })),
  ]).toEqual([
    [{ path: [], message: 'must be a string' }],
    [{ path: [], message: 'must be a string' }],
    [{ path: [], message: error }],
  ])
})

test('documents of the API show the lengths', () => {
  const shown = (schema: z.ZodType) => {
    const { minLength, maxLength } = z.toJSONSchema(schema)
    return { minLength, maxLength }
  }

  expect([
    shown(limitedText(5)),
    shown(readableText({ charsMax: 6, lines: 'one line' })),
    shown(readableText({ charsMax: 7, lines: 'one line', mayBeEmpty: true })),
  ]).toEqual([{ maxLength: 5 }, { minLength: 1, maxLength: 6 }, { maxLength: 7 }])
})
