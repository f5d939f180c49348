import { expect, test } from 'vitest'
import { visible } from './visibleText.ts'

test.each([
  ['a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['line\nbreak', 'line\\u000abreak'],
  ['Zürich 東京 🚀', 'Zürich 東京 🚀'],
])('%j is shown as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})
