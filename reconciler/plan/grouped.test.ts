import { expect, test } from 'vitest'
import { grouped } from './grouped.ts'

test('items with the same name form a group, in order of appearance, without items that have no name', () => {
  const items = [
    { at: 1, name: 'b' },
    { at: 2, name: undefined },
    { at: 3, name: 'a' },
    { at: 4, name: 'b' },
    { at: 5, name: undefined },
  ]

  const groups = grouped(items, ({ name }) => name)

  expect([...groups].map(([name, group]) => [name, group.map(({ at }) => at)])).toEqual([
    ['b', [1, 4]],
    ['a', [3]],
  ])
})
