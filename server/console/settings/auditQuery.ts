import type { AuditFilter } from '../../store/notificationStore.ts'

/** Kinds of actors, with their names. */
export const ACTOR_KINDS = [
  ['person', 'Person'],
  ['key', 'API key'],
  ['cli', 'Command line'],
  ['system', 'System'],
] as const

/** Query of a page of the audit log. */
export interface AuditQuery {
  readonly filter: AuditFilter
  /** Entries before this one; `undefined` for the newest. */
  readonly beforeSeq: number | undefined
}

/** Parses the parameters of a URL; ignores empty and malformed ones. Pure. */
export function readAuditQuery(query: URLSearchParams): AuditQuery {
  const text = (name: string) => query.get(name)?.trim() || undefined
  const before = Number(query.get('before'))
  return {
    filter: {
      actorKind: ACTOR_KINDS.find(([kind]) => kind === query.get('actor'))?.[0],
      action: text('action'),
      targetId: text('target'),
      from: day(text('from')),
      to: day(text('to')),
    },
    beforeSeq: Number.isSafeInteger(before) && before > 0 ? before : undefined,
  }
}

/** The query of a URL, with its `?`; '' without a filter. Pure. */
export function writeAuditQuery({ filter, beforeSeq }: AuditQuery): string {
  const { actorKind, action, targetId, from, to } = filter
  const given = { actor: actorKind, action, target: targetId, from, to, before: beforeSeq?.toString() }
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    ),
  ).toString()
  return query === '' ? '' : `?${query}`
}

/** `text` if it is a valid day. */
function day(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) || new Date(atMs).toISOString().slice(0, 10) !== text ? undefined : text
}
