/** Roles of a person in an organisation. Each includes the permissions of those before it. */
export const ROLES = ['viewer', 'member', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The lowest role with each permission. */
export const LOWEST_ROLES = {
  /** See services, results, incidents, maintenance, status pages, channels without payloads, organisation and sync. */
  read: 'viewer',
  /** Change services, incidents, maintenance and status pages. */
  operate: 'member',
  /** Create, change and test channels; see and resend payloads. */
  'use channels': 'member',
  /** See and rotate secrets of channels; delete channels. */
  'manage channel secrets': 'owner',
  'manage keys': 'owner',
  'manage members': 'owner',
  'manage organisation': 'owner',
  'read audit log': 'owner',
} as const satisfies Readonly<Record<string, Role>>

/** A permission of a person in an organisation. */
export type Permission = keyof typeof LOWEST_ROLES

/** Whether `role` has `permission`. Pure. */
export function isPermitted(role: Role, permission: Permission): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(LOWEST_ROLES[permission])
}
