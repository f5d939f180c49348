import { expect, test } from 'vitest'
import { isRegionCode, REGIONS } from './regions.ts'

test('the platform has eight regions, the same for every caller', () => {
  expect(REGIONS.map(({ code, city, country }) => `${code} ${city}, ${country}`)).toEqual([
    'eu-west-1 Dublin, Ireland',
    'eu-central-1 Frankfurt, Germany',
    'us-east-1 Ashburn, United States',
    'us-west-1 San Francisco, United States',
    'sa-east-1 São Paulo, Brazil',
    'ap-southeast-1 Singapore, Singapore',
    'ap-northeast-1 Tokyo, Japan',
    'ap-southeast-2 Sydney, Australia',
  ])
})

test('a region is identified by its case-sensitive code', () => {
  expect(['eu-west-1', 'EU-WEST-1', 'Dublin', ''].map(isRegionCode)).toEqual([true, false, false, false])
})
