import { expect, test } from 'vitest'
import { isVisible, unreadableCharacter } from './readableText.ts'
import { readableTextProblem } from './text.ts'

const NAME = { charsMax: 255, lines: 'one line' } as const
const MESSAGE = { charsMax: 20_000, lines: 'many lines' } as const

test.each([
  ['emoji of several code points', '👩🏽‍🚒 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👨‍👩‍👧 1️⃣ 🇩🇪'],
  ['Persian with a zero-width non-joiner', 'می‌خواهم'],
  ['Hebrew next to Latin, with a direction mark', 'תשלום API‎ (v2)'],
  ['Arabic with its letter mark', '؜سلة التسوق‏ 3'],
  ['Devanagari with a joiner', 'क्‍ष'],
  ['Khmer with a break between words', 'ភាសា​ខ្មែរ'],
  ['German with a soft hyphen', 'Zahlungs\u00ADdienst'],
  ['Japanese with a variation of an ideograph', '葛\u{e0100}城'],
  ['a letter with a combining accent', 'cafe\u0301'],
  ['blanks of other scripts', 'a\u00A0b\u3000c'],
])('%s is accepted in a name and in a message', (_what, text) => {
  expect([readableTextProblem(text, NAME), readableTextProblem(text, MESSAGE)]).toEqual([
    undefined,
    undefined,
  ])
})

test.each([
  ['a paragraph', 'We look.\n\n\t- checkout\n'],
  ['Windows line ends', 'We look.\r\nIt is the database.'],
  ['line and paragraph separators', 'We look.\u2028Soon.\u2029'],
])('%s is accepted in a message and refused in a name', (_what, text) => {
  expect(readableTextProblem(text, MESSAGE)).toBe(undefined)
  expect(readableTextProblem(text, NAME)).toMatch(/^must not contain the (line break|control character) U\+/)
})

test.each([
  ['shop\u001b[31m', 'must not contain the control character U+001B (character 5)'],
  ['😀\u0007', 'must not contain the control character U+0007 (character 2)'],
  ['a\u007f', 'must not contain the control character U+007F (character 2)'],
  ['a\u009b', 'must not contain the control character U+009B (character 2)'],
  ['over\rwritten', 'must not contain the line break U+000D (character 5)'],
  ['a\u202Egnp.exe', 'must not contain the direction control U+202E (character 2)'],
  ['\u2066a', 'must not contain the direction control U+2066 (character 1)'],
  ['\uFEFFshop', 'must not contain the invisible character U+FEFF (character 1)'],
  ['a\u206Fb', 'must not contain the invisible character U+206F (character 2)'],
  ['a\uFFF9b', 'must not contain the invisible character U+FFF9 (character 2)'],
  ['a\uD83D', 'must not contain the lone surrogate U+D83D (character 2)'],
])('%j is refused with its first such character and its position', (text, problem) => {
  expect([readableTextProblem(text, NAME), readableTextProblem(text, MESSAGE)]).toEqual([problem, problem])
})

test.each(['\u200B', '\u200D\uFE0F', '\u{e0067}', '\u3164', '\u115F', '\u2800', '\u00AD', ' \u200B\u3000'])(
  'a name of only %j is refused, because it is invisible',
  (text) => {
    expect([isVisible(text), readableTextProblem(text, NAME)]).toEqual([
      false,
      'must have a visible character',
    ])
  },
)

test('names allow no control character, and messages allow only tabs and line ends', () => {
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    /\p{Cc}/u.test(character),
  )

  const passing = (lines: 'one line' | 'many lines') =>
    controls.filter((character) => unreadableCharacter(`a${character}b`, lines) === undefined)

  expect([controls.length, passing('one line'), passing('many lines')]).toEqual([65, [], ['\t', '\n']])
})
