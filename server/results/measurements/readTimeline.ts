import { prepareSpanRows } from '../history/spanRows.ts'
import type { TimelineSpan } from './measurements.ts'
import { endpointsOf, type Query, type Sources } from './sources.ts'

/** See `Measurements.timeline`. */
export function* readTimeline(
  { database }: Sources,
  {
    serviceId,
    fromS,
    untilS,
  }: { readonly serviceId: string; readonly fromS: number; readonly untilS: number },
): Query<readonly TimelineSpan[]> {
  const spans = prepareSpanRows(database)
  const exists =
    database.prepare('SELECT 1 FROM service_now WHERE service_id = ?').get(serviceId) !== undefined
  const timeline: TimelineSpan[] = []
  if (!exists) return timeline
  for (const span of spans.ofService(serviceId, { fromS, untilS })) {
    timeline.push({ endpointId: null, ...span, regionsDown: [] })
  }
  for (const { number, id } of endpointsOf(database, serviceId)) {
    yield
    for (const span of spans.ofEndpoint(number, { fromS, untilS })) timeline.push({ endpointId: id, ...span })
  }
  return timeline.sort((a, b) => a.fromS - b.fromS)
}
