import type { FastifyInstance } from 'fastify'
import type { ManagedSet } from './setManager.ts'

/** Adds `/healthz`, which reports ended loops, and `/readyz`, which reports sets whose manifests were not read yet. */
export function addHealthRoutes(app: FastifyInstance, sets: readonly ManagedSet[]): void {
  const add = (path: string, isFailing: (set: ManagedSet) => boolean, status: string): void => {
    app.get(path, (_request, reply) => {
      const names = sets.filter(isFailing).map(({ loop }) => loop.name)
      return names.length === 0 ? reply.send({ status: 'ok' }) : reply.code(503).send({ status, sets: names })
    })
  }
  add('/healthz', ({ hasEnded }) => hasEnded, 'a loop has ended')
  add('/readyz', (set) => !isReady(set), 'not read yet')
}

/** A follower is ready at once: its only task is to wait. */
function isReady({ loop }: ManagedSet): boolean {
  const { role, report } = loop.facts()
  return role === 'follower' || report?.source?.accepted != null
}
