import { expect, test } from 'vitest'
import { table } from './output.ts'

test('a name cannot end the line of a table or control the terminal', () => {
  const rows = [
    { name: 'a\nb', id: 'x' },
    { name: '\u001b[31mred\u202e', id: 'y' },
  ]

  expect(table(rows, { NAME: 'name', ID: 'id' })).toBe('NAME       ID\na…b        x\n…[31mred…  y')
})
