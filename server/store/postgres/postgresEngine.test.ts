import { monotonicMs } from '../../process/systemEnvironment.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { storeSuite } from '../testing/storeSuite.ts'
import { postgresEngine } from './postgresEngine.ts'

storeSuite('PostgreSQL', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createEmpty()
  const assertUsable = async () => {}
  return {
    engine: postgresEngine(url, { nowMs: () => 0, monotonicMs, assertUsable }),
    remove: () => cluster.drop(url),
  }
})
