import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import { type Blocked, blocked, type Change, type Prune } from './planValue.ts'

/** The change for the service of `binding`, whose manifest was removed; null when none is due. Pure. */
export function pruneOf(
  binding: Binding,
  actual: ReadonlyMap<string, ServiceResponse>,
  { unreadableIds, nowMs }: { readonly unreadableIds: readonly string[]; readonly nowMs: number },
): Change | null {
  const service = actual.get(binding.serviceId)
  const exists = service !== undefined || unreadableIds.includes(binding.serviceId)
  const { key, serviceId: id, tombstonedAtMs, pruneAfterSecs } = binding
  const prune: Prune = {
    kind: 'prune',
    key,
    id,
    how: exists ? binding.onDelete : 'forget',
    name: service?.name ?? binding.desired?.name ?? key,
    createdAt: service?.created_at ?? null,
  }
  if (!exists) return prune
  if (tombstonedAtMs !== null) {
    if (pruneAfterSecs === null || nowMs < tombstonedAtMs + pruneAfterSecs * 1_000) return null
    return service?.paused_at == null ? resumedMeanwhile(prune) : { ...prune, how: 'delete' }
  }
  if (binding.protect && binding.onDelete !== 'detach') {
    const message = `its manifest was removed, but policy.protect keeps service ${id}`
    const hint = `to delete it, restore the manifest with protect: false, apply, and remove the manifest; to keep it unmanaged, "pharos state unbind ${key}"`
    return blocked(key, message, hint, { needsDecision: false })
  }
  return prune
}

/** The service was resumed while it waited to be deleted. */
function resumedMeanwhile({ key, id }: Prune): Blocked {
  const message = `its manifest was removed and service ${id} is due for deletion, but it was resumed meanwhile`
  return blocked(key, message, 'restore the manifest, pause the service, or unbind it')
}
