import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Change } from '../plan/planValue.ts'
import { ID, live, OTHER_ID } from '../plan/testing/planning.ts'
import { digestOf } from './approval.ts'

function prune(key: string, id: string): Change {
  return { kind: 'prune', key, id, how: 'delete', name: key, createdAt: null }
}

/** The digest that approves `withheld` while the services are `services`. */
function digest(withheld: readonly Change[], services: readonly ServiceResponse[]): string | null {
  const keys = withheld.map(({ key }) => key)
  const tripped = [{ brake: 'maxDeletes', message: '', keys, approvable: true }] as const
  return digestOf({ changes: [], withheld, tripped }, { services, bindings: new Map() })
}

test('an approval applies to the same changes in any order, and to no other changes or services', () => {
  const [a, b] = [prune('a', ID), prune('b', OTHER_ID)]
  const services = [live(), { ...live(), id: OTHER_ID }]
  const touched = [live({ interval: 90 }), { ...live(), id: OTHER_ID }]
  const approved = digest([a, b], services)

  expect(approved).toMatch(/^[0-9a-f]{16}$/)
  expect(digest([b, a], services)).toBe(approved)
  expect(digest([a], services)).not.toBe(approved)
  expect(digest([a, b], touched)).not.toBe(approved)
})
