/** What can be imported: its own file, so that a help text loads no reader. */
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
