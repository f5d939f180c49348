/** The author of a change, for the audit log. */
export type Actor =
  | { readonly kind: 'key' | 'person'; readonly id: string }
  | { readonly kind: 'cli' | 'system' }

/** The operator, who uses the command line. */
export const OPERATOR: Actor = { kind: 'cli' }
/** The server itself, such as the author of automatic incidents. */
export const SYSTEM: Actor = { kind: 'system' }
