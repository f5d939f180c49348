import { expect, test } from 'vitest'
import { environmentOf, isFile, sourceName } from './sourceName.ts'

test('a source is named as typed by the user, with its environment', () => {
  const [plain, staging] = [sourceName('monitoring', undefined), sourceName('a --env b', 'staging')]

  expect([plain, staging]).toEqual(['monitoring', 'a --env b --env staging'])
  expect([environmentOf(plain), environmentOf(staging)]).toEqual(['no --env', '--env staging'])
})

test.each([
  ['shop.yaml', true],
  ['services/SHOP.YML --env staging', true],
  ['shop.yaml.d', false],
  ['monitoring --env test.yaml', false],
])('whether the source %s is one file: %j', (source, expected) => {
  expect(isFile(source)).toBe(expected)
})
