import { expect, test } from 'vitest'
import { REGIONS as offered } from '../../../server/domain/regions.ts'
import { REGIONS } from '../region.ts'

test('an editor completes the regions that the server offers', () => {
  expect(REGIONS).toEqual(offered.map(({ code }) => code))
})
