import type { Region } from '../../api/contract/org.ts'

/**
 * All monitoring regions, the same for every caller (Gap G12). Their order is part of the stored numbers of series, so
 * append new regions.
 */
export const REGIONS: readonly Region[] = [
  { code: 'eu-west-1', city: 'Dublin', country: 'Ireland' },
  { code: 'eu-central-1', city: 'Frankfurt', country: 'Germany' },
  { code: 'us-east-1', city: 'Ashburn', country: 'United States' },
  { code: 'us-west-1', city: 'San Francisco', country: 'United States' },
  { code: 'sa-east-1', city: 'São Paulo', country: 'Brazil' },
  { code: 'ap-southeast-1', city: 'Singapore', country: 'Singapore' },
  { code: 'ap-northeast-1', city: 'Tokyo', country: 'Japan' },
  { code: 'ap-southeast-2', city: 'Sydney', country: 'Australia' },
]

const CODES: ReadonlySet<string> = new Set(REGIONS.map(({ code }) => code))

/** Whether `code` is one of the platform's regions; case-sensitive. Pure. */
export function isRegionCode(code: string): boolean {
  return CODES.has(code)
}

/**
 * Number of regions in the encoding of series: the number of a series is the endpoint's number × this + the index of
 * its region.
 */
export const REGIONS_MAX = 32

/** The number of the endpoint of a series. Pure. */
export function endpointOfSeries(series: number): number {
  return Math.floor(series / REGIONS_MAX)
}

/** The number of the series of an endpoint in `region`, which must be one of the platform's. Pure. */
export function seriesNumber(endpointNumber: number, region: string): number {
  return endpointNumber * REGIONS_MAX + REGIONS.findIndex(({ code }) => code === region)
}

/** The region of a series; `undefined` when no region has its number. Pure. */
export function regionOfSeries(series: number): string | undefined {
  return REGIONS[series % REGIONS_MAX]?.code
}

/** The numbers of the series of an endpoint, one for each of the platform's regions. Pure. */
export function seriesOfEndpoint(endpointNumber: number): readonly number[] {
  return REGIONS.map((_, place) => endpointNumber * REGIONS_MAX + place)
}
