import { OPERATOR } from '../../domain/accounts/actor.ts'
import { newLink, OPERATOR_LINK_MS } from '../../domain/accounts/sessions.ts'
import { newKey } from '../../domain/apiKeys.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { Store } from '../../store/store.ts'

/** Name of the organisation of `dev`, and of the requester of its keys. */
const NAME = 'pharos-server dev'
/** E-mail address of its owner; nothing is sent to it. */
const OWNER_EMAIL = 'owner@example.org'
/** Slug of its status page. */
const SLUG = 'dev'

/**
 * The id of the organisation of `dev`, which is created if the store is empty. Throws when the store has other
 * organisations, because `dev` allows private addresses.
 */
export async function devOrg(store: Store): Promise<string> {
  const [first, ...others] = await store.listOrgs()
  if (first !== undefined) {
    if (first.name === NAME && others.length === 0) return first.id
    throw new Error('the data folder has organisations that "dev" did not make: use "serve" for it')
  }
  const id = systemEnvironment.uuid()
  await store.createOrg({ id, name: NAME, plan: 'business', nowMs: systemEnvironment.nowMs() })
  await store.overrideLimits(id, { intervalSecsMin: 1 })
  await store.setDefaultAutoIncidents(id, { threshold: 3, windowMinutes: 1 })
  return id
}

/** A new read_write key in plain text. Revokes the keys of earlier starts, whose plain text is lost. */
export async function replaceKey(store: Store, orgId: string): Promise<string> {
  const nowMs = systemEnvironment.nowMs()
  for (const { id, createdBy, revokedAt } of await store.listKeys(orgId)) {
    if (createdBy === NAME && revokedAt === null) await store.revokeKey({ id, by: OPERATOR, nowMs })
  }
  const { key, ...made } = newKey(systemEnvironment)
  const about = { orgId, scope: 'read_write', createdBy: NAME, note: null, by: OPERATOR, nowMs } as const
  await store.createKey({ ...made, ...about })
  return key
}

/** Path of the status page; creates a page with the service if the organisation has none. */
export async function devStatusPage(store: Store, orgId: string, serviceId: string): Promise<string> {
  const [page] = await store.listStatusPages(orgId)
  if (page !== undefined) return `/s/${page.slug}`
  await store.createStatusPage({
    ...{ id: systemEnvironment.uuid(), orgId, nowMs: systemEnvironment.nowMs() },
    settings: {
      ...{ slug: SLUG, title: 'Sample status page' },
      sections: [{ name: '', components: [{ serviceId, name: undefined }] }],
    },
  })
  return `/s/${SLUG}`
}

/** Path in the console for the owner: an invitation, or the sign-in page once there is an owner. */
export async function ownerPath(store: Store, orgId: string): Promise<string> {
  const missing = await store.orgsWithoutOwner()
  if (!missing.some(({ id }) => id === orgId)) return '/'
  const { token, ...link } = newLink(systemEnvironment, OPERATOR_LINK_MS)
  const invitation = { ...link, orgId, email: OWNER_EMAIL, role: 'owner' } as const
  await store.invite(invitation, OPERATOR, systemEnvironment.nowMs())
  return `/invite/${token}`
}
