import { expect, test } from 'vitest'
import { newBinding } from './binding.ts'
import { ID, live, plan } from './testing/planning.ts'

test('a service to which nothing was sent yet is only detached when its manifest is removed', () => {
  const { changes } = plan({ actual: [live({})], bindings: [newBinding('shop', ID)] })

  expect(changes).toMatchObject([{ kind: 'prune', key: 'shop', id: ID, how: 'detach' }])
})

test('a service to which nothing was sent yet has no reversals of manual changes', () => {
  expect(newBinding('shop', ID).heals).toEqual([])
})
