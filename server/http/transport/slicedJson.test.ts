import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonLimitError, parseInSlices } from './slicedJson.ts'
import { SLICE_WORK, Slices } from './slices.ts'

const OPTIONS = { nestingMax: 64, membersMax: 10_000, onPart: () => {}, onMember: () => {} }

/**
 * The value of `text`, parsed in parts of about `chunkChars`; `invalid` when it is not JSON, or the problem when it
 * exceeds a limit.
 */
function parsed(text: string, chunkChars: number, bounds: Partial<typeof OPTIONS> = {}): unknown {
  try {
    const steps = parseInSlices(text, new Slices(), { ...OPTIONS, ...bounds }, chunkChars)
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
    }
  } catch (error) {
    if (error instanceof JsonLimitError) return error.problem
    if (error instanceof SyntaxError) return 'invalid'
    throw error
  }
}

function whole(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : 'invalid'
  } catch {
    return 'invalid'
  }
}

const container = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 4 })),
  fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('a:"b', '__proto__', '', '\\"')), fc.jsonValue()),
)

test('parsing in parts of any length gives the same value as parsing at once', () => {
  const spacing = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(container, spacing, fc.integer({ min: 0, max: 40 }), (value, space, chunkChars) => {
      const text = JSON.stringify(value, null, space)

      expect(parsed(text, chunkChars)).toEqual(whole(text))
    }),
    { numRuns: 1_000 },
  )
})

test('parsing in parts refuses a text exactly where parsing at once does', () => {
  const place = fc.nat({ max: 1_000 })
  const char = fc.constantFrom('', ',', ':', '"', '[', ']', '{', '}', ' ', '0', '\\', 'x')
  fc.assert(
    fc.property(container, place, char, fc.integer({ min: 0, max: 20 }), (value, at, wrong, chunkChars) => {
      const right = JSON.stringify(value)
      const cut = at % (right.length + 1)
      const text = right.slice(0, cut) + wrong + right.slice(cut + 1)

      expect(parsed(text, chunkChars)).toEqual(whole(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a missing or extra comma, colon, bracket or string is refused', () => {
  const texts = [
    '[1,]',
    '[1,,2]',
    '{"a":1,}',
    '[[1],]',
    '[,[1]]',
    '{"a":[1]"b":2}',
    '[1 [2]]',
    '[1[2]]',
    '[1{}]',
    '{"a":1{}}',
    '{"a" [1]}',
    '[1][2]',
    '[1]"x"',
    ' x[1]',
  ]

  expect(texts.map((text) => parsed(text, 0))).toEqual(texts.map(() => 'invalid'))
})

test('nothing is read after the first bracket that is nested too deep', () => {
  const tooDeep = { path: [], message: 'must not be nested deeper than 64 levels' }
  expect(parsed('['.repeat(65) + ']'.repeat(65), 0)).toEqual(tooDeep)
  expect(parsed('['.repeat(64) + ']'.repeat(64), 0)).toEqual(whole('['.repeat(64) + ']'.repeat(64)))
  expect(parsed(`${'['.repeat(65)}no JSON`, 0)).toEqual(tooDeep)
})

test('an object with too many members is refused with its path, however the text is divided', () => {
  const text = JSON.stringify({ 'a:"b': [0, { c: 1 }, [], [{ x: 1, y: 2, z: [3], last: {} }]], d: 1 })
  const message = 'must have at most 3 members: send only the fields that the API documents'

  const problems = [0, 1, 5, 10, 20].map((chunkChars) => parsed(text, chunkChars, { membersMax: 3 }))

  expect(problems).toEqual(problems.map(() => ({ path: ['a:"b', 3, 0], message })))
  expect(parsed(text, 0, { membersMax: 4 })).toEqual(whole(text))
})

test('parsing a mebibyte never blocks for long, whatever its content', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `"${index.toString(36)}":"${'x'.repeat(90)}"`)
  const texts = [`{"x":{${names.join(',')}}}`, `[${Array(340_000).fill('{}').join(',')}]`]
  for (const text of texts) {
    const parts: number[] = []
    const options = { ...OPTIONS, onPart: (_part: object, run: string) => parts.push(run.length) }
    const slices = [...parseInSlices(text, new Slices(), options)]

    expect(Math.max(...parts)).toBeLessThan(2 * 16 * 1_024)
    expect(slices.length).toBeGreaterThan(text.length / 16 / SLICE_WORK - 1)
  }
})
