import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { Blocked, Change, Prune } from './planValue.ts'

/** What happens to the service of `binding`, whose manifest is gone; null when nothing is due. Pure. */
export function pruneOf(
  binding: Binding,
  actual: ReadonlyMap<string, ServiceResponse>,
  { unreadableIds, nowMs }: { readonly unreadableIds: readonly string[]; readonly nowMs: number },
): Change | null {
  const service = actual.get(binding.serviceId)
  const isThere = service !== undefined || unreadableIds.includes(binding.serviceId)
  const { key, serviceId: id, tombstonedAtMs, pruneAfterSecs } = binding
  const prune: Prune = {
    kind: 'prune',
    key,
    id,
    how: isThere ? binding.onDelete : 'forget',
    name: service?.name ?? binding.desired?.name ?? key,
    createdAt: service?.created_at ?? null,
  }
  if (!isThere) return prune
  if (tombstonedAtMs !== null) {
    if (pruneAfterSecs === null || nowMs < tombstonedAtMs + pruneAfterSecs * 1_000) return null
    return service?.paused_at == null ? wantedAfterAll(prune) : { ...prune, how: 'delete' }
  }
  if (binding.protect && binding.onDelete !== 'detach') {
    const message = `its manifest is gone, but policy.protect keeps service ${id}`
    const hint = `to remove it, put the manifest back with protect: false, apply, then take it out; to keep it and forget it here, "pharos state unbind ${key}"`
    return { kind: 'blocked', key, message, hint, needsDecision: false }
  }
  return prune
}

/** It was resumed while it waited to be deleted. */
function wantedAfterAll({ key, id }: Prune): Blocked {
  const message = `its manifest is gone and service ${id} was to be deleted now, but it was resumed meanwhile`
  return {
    kind: 'blocked',
    key,
    message,
    hint: 'put the manifest back, pause it, or unbind it',
    needsDecision: true,
  }
}
