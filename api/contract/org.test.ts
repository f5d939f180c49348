import { expect, test } from 'vitest'
import { orgSchema, regionSchema } from './org.ts'

test('an organisation is read with every field, whatever its plan is called', () => {
  const org = { id: '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e', name: 'Shop', plan: 'fifth', scope: 'read_only' }

  expect(orgSchema.parse(org)).toEqual(org)
  expect(orgSchema.safeParse({ ...org, scope: 'admin' }).success).toBe(false)
})

test('a region is read with every field', () => {
  const region = { code: 'eu-west-1', city: 'Dublin', country: 'Ireland' }

  expect(regionSchema.parse(region)).toEqual(region)
})
