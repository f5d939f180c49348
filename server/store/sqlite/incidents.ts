import type { Incident } from '../../../api/contract/incident.ts'
import type { AutoIncidents, IncidentWrites } from '../shared/autoIncidents.ts'
import type { IncidentStore } from '../store.ts'
import { prepareIdempotency } from './changes/idempotentCreations.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'
import { prepareIncidentList } from './incidentList.ts'
import { prepareIncidentRead } from './incidentRows.ts'

/** The parts that incidents share with the rest of the store. */
interface Sharing {
  readonly commits: GroupCommit
  readonly nowMs: () => number
  readonly writes: IncidentWrites
  readonly autoIncidents: AutoIncidents
}

/** Incidents in SQLite. Maintenance windows are in the same table and every query here excludes them. */
export function sqliteIncidents(
  { reader, writer }: Connections,
  { commits, nowMs, writes, autoIncidents }: Sharing,
) {
  const read = prepareIncidentRead(reader)
  const list = prepareIncidentList(reader, read.ofRow)
  const ownService = writer
    .prepare<[string, string], string>('SELECT id FROM services WHERE id = ? AND org_id = ?')
    .pluck()
  const remember = prepareIdempotency(writer)
  return {
    getIncident: async (orgId, incidentId) => read.one(orgId, incidentId),
    listIncidents: list,
    createIncident: (orgId, { by, wantedServiceIds, fingerprint }, decide) =>
      commits.run(() => {
        const text = remember(orgId, fingerprint, nowMs(), () => {
          const ownServiceIds = new Set(
            wantedServiceIds.filter((id) => ownService.get(id, orgId) !== undefined),
          )
          const incident = writes.open(orgId, by, (facts) => {
            const made = decide({ ...facts, ownServiceIds })
            commits.assertGrowth()
            return made
          })
          return JSON.stringify(incident)
        })
        // True because only incidents are stored under an incident's Idempotency-Key.
        return JSON.parse(text) as Incident
      }),
    changeIncident: (orgId, incidentId, by, decide) =>
      commits.run(() => {
        const changed = writes.change(orgId, incidentId, by, (incident, quota) => {
          const after = decide(incident, quota)
          commits.assertGrowth()
          return after
        })
        if (changed?.auto_managed === true) autoIncidents.takeOver(changed)
        return changed
      }),
  } satisfies Partial<IncidentStore>
}
