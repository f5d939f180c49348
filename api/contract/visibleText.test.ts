import { expect, test } from 'vitest'
import { slackText, visible } from './visibleText.ts'

test.each([
  ['a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['line\nbreak', 'line\\u000abreak'],
  ['Zürich 東京 🚀', 'Zürich 東京 🚀'],
])('%j is shown as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

test('a text for Slack mentions nothing: neither in the syntax of Slack nor with the words of other chats', () => {
  expect(slackText('<!channel> & <https://evil.example|here>', 100)).toBe(
    '&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;',
  )
  expect(slackText('@channel @HERE, @all: @everyone', 100)).toBe(
    '@\u200bchannel @\u200bHERE, @\u200ball: @\u200beveryone',
  )
  expect(slackText('@ada ops@example.org @allowed', 100)).toBe('@ada ops@example.org @allowed')
})

test('a long text is cut between characters, never inside an escaped one', () => {
  expect(slackText('a<b', 6)).toBe('a&lt;b')
  expect(slackText('a<b', 5)).toBe('a…')
  expect(slackText('🔥🔥🔥', 5)).toBe('🔥…')
  expect(slackText('abc', 0)).toBe('…')
})
