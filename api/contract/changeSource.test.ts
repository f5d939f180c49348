import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codePoint } from '../../scripts/testing/codePoint.ts'
import { readChangeSource, writeChangeSource } from './changeSource.ts'

test('a header written by a client is always read back unchanged', () => {
  const text = fc.string({ unit: codePoint, maxLength: 600 })
  fc.assert(
    fc.property(fc.record({ commit: text, path: text }), (source) => {
      const header = writeChangeSource(source)
      const read = header === undefined ? undefined : readChangeSource(header)
      for (const name of ['commit', 'path'] as const) {
        expect([source[name], null]).toContain(read?.[name] ?? null)
      }
    }),
  )
})

test('a path in any alphabet is carried', () => {
  const source = { repository: 'git@git.example:acme/shop.git', commit: '4f2a', path: 'dienste/Größe 1.yaml' }

  expect(readChangeSource(writeChangeSource(source) ?? '')).toEqual(source)
})

test.each([
  ['https://robot:hunter2@git.example/acme/shop.git', 'https://git.example/acme/shop.git'],
  ['https://git.example/acme/shop?private_token=hunter2#x', 'https://git.example/acme/shop'],
])('the token in %s is neither sent nor accepted', (repository, shown) => {
  expect(readChangeSource(writeChangeSource({ repository }) ?? '').repository).toBe(shown)
  expect(readChangeSource(new URLSearchParams({ repository }).toString()).repository).toBe(shown)
})

test.each([
  ['commit=a&commit=b', 'must name commit once'],
  ['path=', 'path must not be empty'],
  ['path=a%0ab', 'path must not contain the line break U+000A (character 2)'],
  ['path=%ff', 'path must be UTF-8'],
  [`path=${'x'.repeat(513)}`, 'path must have at most 512 characters'],
  ['path=a b', 'must be at most 8192 visible ASCII characters'],
])('%s is refused: %s', (header, message) => {
  expect(() => readChangeSource(header)).toThrow(message)
})

test('unknown members, which later clients may send, are ignored', () => {
  expect(readChangeSource('branch=main&commit=4f2a')).toEqual({
    repository: null,
    commit: '4f2a',
    path: null,
  })
})
