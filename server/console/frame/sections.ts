import type { Permission } from '../../domain/accounts/roles.ts'

/** Sections of the navigation, in order. `path` is below `/o/:org/`. */
export const SECTIONS = [
  { id: 'services', name: 'Services', path: 'services', access: 'read' },
  { id: 'incidents', name: 'Incidents', path: 'incidents', access: 'read' },
  { id: 'maintenance', name: 'Maintenance', path: 'maintenance', access: 'read' },
  { id: 'pages', name: 'Status pages', path: 'pages', access: 'read' },
  { id: 'channels', name: 'Channels', path: 'channels', access: 'read' },
  { id: 'sync', name: 'Sync', path: 'sync', access: 'read' },
  { id: 'keys', name: 'API keys', path: 'settings/keys', access: 'manage keys' },
  { id: 'members', name: 'Members', path: 'settings/members', access: 'manage members' },
  { id: 'organisation', name: 'Organisation', path: 'settings/organisation', access: 'read' },
  { id: 'audit', name: 'Audit log', path: 'settings/audit', access: 'read audit log' },
] as const satisfies readonly {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly access: Permission
}[]

export type SectionId = (typeof SECTIONS)[number]['id']
