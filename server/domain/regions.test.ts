import { expect, test } from 'vitest'
import {
  endpointOfSeries,
  isRegionCode,
  REGIONS,
  REGIONS_MAX,
  regionOfSeries,
  seriesNumber,
  seriesOfEndpoint,
} from './regions.ts'

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

test('the number of a series gives its endpoint and its region', () => {
  expect(seriesOfEndpoint(3)).toEqual([96, 97, 98, 99, 100, 101, 102, 103])
  expect(REGIONS.map(({ code }) => seriesNumber(3, code))).toEqual(seriesOfEndpoint(3))
  expect(seriesOfEndpoint(3).map(endpointOfSeries)).toEqual(REGIONS.map(() => 3))
  expect(seriesOfEndpoint(3).map(regionOfSeries)).toEqual(REGIONS.map(({ code }) => code))
  expect(regionOfSeries(4 * REGIONS_MAX - 1)).toBeUndefined()
})
