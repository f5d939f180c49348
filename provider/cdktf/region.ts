/**
 * Code of a region to check from. An editor completes those that Pharos offers; another server may have others, which
 * the plan checks.
 */
export type Region = (typeof REGIONS)[number] | (string & {})

/** Codes of the regions that Pharos offers. */
export const REGIONS = [
  'eu-west-1',
  'eu-central-1',
  'us-east-1',
  'us-west-1',
  'sa-east-1',
  'ap-southeast-1',
  'ap-northeast-1',
  'ap-southeast-2',
] as const
