/** Who makes a change, for the audit log. */
export type Actor =
  | { readonly kind: 'key' | 'person'; readonly id: string }
  | { readonly kind: 'cli' | 'system' }
