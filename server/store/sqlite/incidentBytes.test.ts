import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import { incidentBytes } from '../../domain/incidentQuota.ts'
import { systemEnvironment as environment } from '../../process/systemEnvironment.ts'
import { openDatabase } from './files/openDatabase.ts'
import { openStore } from './openStore.ts'

let folder: string
beforeEach(async () => {
  folder = testFolder()
})

// The last one is a few bytes too long for a page of the database, so most of another page is wasted.
test.each([[1], [400], [4_000], [4_400]])(
  'incidents with updates of %i bytes take at most twice their counted size',
  async (bytes) => {
    const store = await openStore(folder, environment.nowMs)
    await store.createOrg({ id: 'org', name: 'x', plan: 'business', nowMs: 0 })
    const { reader, writer } = await openDatabase(folder)
    const size = () => 4_096 * Number(reader.pragma('page_count', { simple: true }))
    const before = size()
    const serviceIds = [0, 1, 2].map(() => environment.uuid())
    const ownServiceIds = new Set(serviceIds)
    const message = 'x'.repeat(bytes)
    let counted = 0

    for (let made = 0; made < 300; made += 1) {
      const request = { title: 'x', message, severity: 'major_outage' as const, service_ids: serviceIds }
      const { id } = await store.createIncident(
        'org',
        { by: OPERATOR, wantedServiceIds: serviceIds },
        (facts) => openIncident(request, { ...facts, ownServiceIds }, environment),
      )
      const resolved = await store.changeIncident('org', id, OPERATOR, (incident, quota) =>
        updateIncident(incident, { body: message, status: 'resolved' }, { environment, quota }),
      )
      counted += resolved === undefined ? 0 : incidentBytes(resolved)
    }

    expect((size() - before) / counted).toBeLessThan(2)
    for (const database of [reader, writer]) database.close()
    await store.close()
  },
)
