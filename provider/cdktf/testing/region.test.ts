import { expect, test } from 'vitest'
import { REGIONS as offered } from '../../../server/domain/regions.ts'
import { REGIONS } from '../region.ts'

test('the regions that an editor completes are those of the server', () => {
  expect(REGIONS).toEqual(offered.map(({ code }) => code))
})
