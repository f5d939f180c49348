/** Formats that can be imported; in its own file, so that the help loads no reader. */
export const IMPORT_FORMATS = [
  'gatus',
  'blackbox',
  'uptime-kuma',
  'uptimerobot',
  'checkly',
  'openapi',
  'terraform',
] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]
