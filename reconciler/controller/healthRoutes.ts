import { json, type Route } from './http/route.ts'
import type { KeptSet } from './setManager.ts'

/** `/healthz`: every loop is alive. `/readyz`: every set was read. */
export function healthRoutes(sets: () => readonly KeptSet[]): readonly Route[] {
  const answer = (path: string, isOdd: (set: KeptSet) => boolean, what: string): Route => ({
    method: 'GET',
    path,
    handle: () => {
      const names = sets().flatMap((set) => (isOdd(set) ? [set.loop.name] : []))
      return names.length === 0 ? json(200, { status: 'ok' }) : json(503, { status: what, sets: names })
    },
  })
  return [
    answer('/healthz', ({ hasEnded }) => hasEnded, 'a loop has ended'),
    answer('/readyz', (set) => !isReady(set), 'not read yet'),
  ]
}

/** A follower is ready at once: all that it has to do is wait. */
function isReady({ loop }: KeptSet): boolean {
  const { role, report } = loop.facts()
  return role === 'follower' || report?.source?.accepted != null
}
