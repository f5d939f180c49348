import { expect, test } from 'vitest'
import type { Change, Plan } from './planValue.ts'
import { narrowed } from './selection.ts'

function forget(key: string): Change {
  return { kind: 'prune', key, id: `id-${key}`, how: 'forget', name: key, createdAt: null }
}

const whole: Plan = {
  changes: [forget('shop'), forget('cart'), forget('blog')],
  unchanged: ['mail', 'shop-api', 'news', 'wiki'],
  owned: 7,
  kept: 4,
}

test('a plan without a selection is complete, and leaves nothing out', () => {
  expect(narrowed(whole, undefined)).toEqual({ plan: whole, leftOut: { services: 0, changes: 0 } })
})

test('a selection keeps its services in order, and counts the others and the changes among them', () => {
  const { plan, leftOut } = narrowed(whole, (key) => key.startsWith('shop') || key === 'blog')

  expect(plan).toEqual({
    ...whole,
    changes: [forget('shop'), forget('blog')],
    unchanged: ['shop-api'],
  })
  expect(leftOut).toEqual({ services: 4, changes: 1 })
})
