import { expect, test } from 'vitest'
import { responseTo } from '../../testing/serviceRequests.ts'
import { hasName, isUuid } from './identifiers.ts'

test('names are compared in Unicode normal form, and case-sensitively', () => {
  const service = responseTo({
    name: 'Zu\u0308rich',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [],
  })

  expect([hasName(service, 'Z\u00fcrich'), hasName(service, 'z\u00fcrich')]).toEqual([true, false])
})

test('a UUID is accepted in upper and lower case, and without surrounding text', () => {
  const id = '01a1ffbb-a723-7bfd-afe0-facda60b5dfe'

  expect([id, id.toUpperCase(), ` ${id}`, '', 'name=a'].map(isUuid)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})
