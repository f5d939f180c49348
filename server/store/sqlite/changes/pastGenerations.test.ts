import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { createService, replaceService } from '../../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../../process/systemEnvironment.ts'
import { serviceBody } from '../../../testing/serviceBodies.ts'
import { type Connections, openDatabase } from '../files/openDatabase.ts'
import { preparePastGenerations } from './pastGenerations.ts'

let folder: string
let connections: Connections
beforeEach(async () => {
  folder = testFolder()
  connections = await openDatabase(folder)
})
afterEach(async () => {
  connections.reader.close()
  connections.writer.close()
})

test('the newest generations of an organisation that fit into its bytes are kept, and those of others stay', () => {
  const { writer } = connections
  const keepPast = preparePastGenerations(writer, 4_000)
  const limits = {
    ...{ servicesMax: 9, endpointsMax: 9, serviceEndpointsMax: 9, intervalSecsMin: 1, incidentsMibMax: 1 },
    resultsDays: 7,
    regionsAllowed: null,
  }
  const deps = {
    ...systemEnvironment,
    nowMs: 0,
    isBlocked: () => false,
    seal: () => {
      throw new Error('the body has no secret')
    },
    quota: {
      orgId: 'acme',
      limits,
      autoIncidents: null,
      usage: { activeServices: 0, activeEndpoints: 0, storedServices: 0 },
    },
  }
  const replaced = (orgId: string, count: number): void => {
    let { service } = createService(serviceBody(), deps)
    for (let made = 0; made < count && service !== null; made += 1) {
      const change = replaceService(service, serviceBody(), deps)
      keepPast(orgId, { service, origin: null, change, nowMs: made })
      service = change.service
    }
  }

  replaced('other', 3)
  replaced('acme', 30)

  const keptOf = (orgId: string) =>
    writer
      .prepare<[string], number>('SELECT generation FROM past_generations WHERE org_id = ? ORDER BY sequence')
      .pluck()
      .all(orgId)
  const kept = keptOf('acme')
  expect(kept.at(-1)).toBe(30)
  expect(kept).toEqual(kept.map((_, index) => 30 - kept.length + 1 + index))
  expect(kept.length).toBeGreaterThan(3)
  expect(kept.length).toBeLessThan(16)
  expect(keptOf('other')).toEqual([1, 2, 3])
})
