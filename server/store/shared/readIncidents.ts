import type { Incident } from '../../../api/contract/incident.ts'
import type { Section } from '../../../api/contract/incidentTerms.ts'
import type { IncidentList, Store } from '../store.ts'

/** Incidents per page. */
const PAGE_INCIDENTS = 100

/** All incidents of an organisation in `section`, newest first. */
export async function readIncidents(
  store: Pick<Store, 'listIncidents'>,
  orgId: string,
  section: Section,
): Promise<readonly Incident[]> {
  const incidents: Incident[] = []
  for (let page = 1; ; page += 1) {
    const filter = { section, q: undefined, severity: undefined, serviceIds: [], page, limit: PAGE_INCIDENTS }
    const list = await store.listIncidents(orgId, filter, async () => {})
    const items = await itemsOf(list)
    incidents.push(...items)
    if (items.length < PAGE_INCIDENTS) return incidents
  }
}

/** The incidents of `list`; a long one is read into memory. */
export async function itemsOf(list: IncidentList): Promise<readonly Incident[]> {
  if ('items' in list) return list.items
  const { pieces, close } = await list.openItems()
  const read: Uint8Array[] = []
  try {
    for await (const piece of pieces) read.push(piece)
  } finally {
    await close()
  }
  // True because only incidents are rendered.
  return JSON.parse(Buffer.concat(read).toString()) as readonly Incident[]
}
