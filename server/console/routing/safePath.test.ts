import { expect, test } from 'vitest'
import { safePath } from './safePath.ts'

test.each([
  ...['//evil.example', '///evil.example', '/\\evil.example', '\\/evil.example', '\\\\evil.example'],
  ...[
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    ' //evil.example',
  ],
  ...['/..//evil.example', '/.//evil.example', '/o//evil.example', '/o/../..'],
  ...['evil.example', '', null, undefined, '/a\\b', '/<script>', '/a#b', '/\u202e'],
])('%j is not a path of the console', (text) => {
  expect(safePath(text)).toBe('/')
})

test.each([
  '/',
  '/me',
  '/o/1/services?state=down&q=a%20b&sort=-name',
  '/%2f%2fevil.example',
  '/invite/a-b_c',
  '/o/1/services?q=https://shop.example/./x',
])('%s stays in the console', (path) => {
  expect(safePath(path)).toBe(path)
  expect(new URL(path, 'https://console.example').origin).toBe('https://console.example')
})
