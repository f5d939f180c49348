import { expect, test } from 'vitest'
import { table } from './output.ts'

test('a name cannot end the line of a table or control the terminal', () => {
  const rows = [
    ['a\nb', 'x'],
    ['\u001b[31mred\u202e', 'y'],
  ]

  expect(table(['NAME', 'ID'], rows)).toBe('NAME       ID\na…b        x\n…[31mred…  y')
})
