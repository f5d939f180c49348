import { expect, test } from 'vitest'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import { adoptionsOf } from './adoption.ts'
import { newBinding } from './binding.ts'
import { binding, desired, ID, live, OTHER_ID } from './testing/planning.ts'

test('a service that matches a manifest is adopted, with the policy of the manifest', () => {
  const policy = { onDelete: 'pause', protect: true, pruneAfterSecs: 60 } as const
  const [service, manifest] = [live(), desired({ secret: 'of git' }, { paused: true, policy })]

  expect(adoptionsOf([manifest], [service], [])).toEqual([
    {
      kind: 'match',
      key: 'shop',
      binding: {
        ...newBinding('shop', ID),
        desired: manifest.canonical,
        observed: canonicalResponse(service),
        paused: true,
        ...policy,
      },
    },
  ])
})

test('a manifest without paused does not manage it after an adoption either', () => {
  expect(adoptionsOf([desired()], [live()], [])).toMatchObject([{ kind: 'match', binding: { paused: null } }])
})

test('a service with the same name and other values is shown with its differences', () => {
  expect(adoptionsOf([desired({ interval: 30 })], [live()], [])).toEqual([
    { kind: 'differs', key: 'shop', id: ID, fields: [{ pointer: '/interval_secs', from: 60, to: 30 }] },
  ])
})

test('several services with the same name are shown, and none is adopted', () => {
  expect(adoptionsOf([desired()], [live(), live({ id: OTHER_ID })], [])).toEqual([
    { kind: 'several', key: 'shop', ids: [ID, OTHER_ID] },
  ])
})

test('a service that matches two manifests is adopted by neither', () => {
  const manifests = [desired(), desired({}, { key: 'twin' }), desired({ name: 'Other' }, { key: 'other' })]

  expect(adoptionsOf(manifests, [live()], [])).toEqual([
    { kind: 'several', key: 'shop', ids: [ID] },
    { kind: 'several', key: 'twin', ids: [ID] },
  ])
})

test('a manifest with metadata.id adopts that service, whatever its name, and no other', () => {
  const services = [live(), live({ id: OTHER_ID, name: 'Old' })]

  const named = desired({}, { id: OTHER_ID })
  const wrong = desired({}, { key: 'wrong', id: 'no service' })

  expect(adoptionsOf([named, wrong], services, [])).toEqual([
    { kind: 'differs', key: 'shop', id: OTHER_ID, fields: [{ pointer: '/name', from: 'Old', to: 'Shop' }] },
  ])
})

test('a manifest of the same name with a metadata.id does not prevent the adoption', () => {
  const manifests = [desired({}, { id: OTHER_ID }), desired({}, { key: 'unnamed' })]

  expect(adoptionsOf(manifests, [live()], [])).toMatchObject([{ kind: 'match', key: 'unnamed' }])
})

test('a bound service is not adopted again, and its manifest adopts no other', () => {
  const services = [live(), live({ id: OTHER_ID, name: 'Spare' })]
  const manifests = [desired({ name: 'Spare' }), desired({}, { key: 'second' })]

  expect(adoptionsOf(manifests, services, [binding()])).toEqual([])
})
