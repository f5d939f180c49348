import type { Region } from '../../api/contract/org.ts'

/** Every place from which services can be monitored: fixed and the same for every caller (Gap G12). */
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

/** Whether `code` is one of the platform's regions; case counts. Pure. */
export function isRegionCode(code: string): boolean {
  return CODES.has(code)
}
