import { expect, test } from 'vitest'
import { suspectedDuplicates } from './suspectedDuplicates.ts'
import { binding, ID, live, OTHER_ID } from './testing/planning.ts'

const NO_CLAIMS = new Set<string>()

test('a service without a manifest that equals a created one may be a duplicate of that creation', () => {
  const services = [live(), live({ id: OTHER_ID }), live({ id: 'another', name: 'Other' })]

  expect(suspectedDuplicates(services, [binding()], NO_CLAIMS)).toEqual([
    { key: 'shop', of: ID, id: OTHER_ID },
  ])
})

test.each([
  ['has another definition', [live(), live({ id: OTHER_ID, interval: 30 })], [binding()], NO_CLAIMS],
  ['has another name', [live(), live({ id: OTHER_ID, name: 'Other' })], [binding()], NO_CLAIMS],
  ['is named by a manifest', [live(), live({ id: OTHER_ID })], [binding()], new Set([OTHER_ID])],
  [
    'belongs to another manifest',
    [live(), live({ id: OTHER_ID })],
    [binding(), binding({}, { id: OTHER_ID }, { key: 'twin' })],
    NO_CLAIMS,
  ],
  ['is the only remaining one', [live({ id: OTHER_ID })], [binding()], NO_CLAIMS],
  [
    'is like one to which nothing was sent yet',
    [live(), live({ id: OTHER_ID })],
    [binding({}, {}, { desired: null })],
    NO_CLAIMS,
  ],
])('a service that %s is not a suspected duplicate', (_, services, bindings, claimed) => {
  expect(suspectedDuplicates(services, bindings, claimed)).toEqual([])
})
