import { monotonicMs } from '../../process/systemEnvironment.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { accountSuite } from '../testing/accountSuite.ts'
import { channelSuite } from '../testing/channelSuite.ts'
import { pageSuite } from '../testing/pageSuite.ts'
import { type EmptyEngine, storeSuite } from '../testing/storeSuite.ts'
import { postgresEngine } from './postgresEngine.ts'

async function makeEngine(): Promise<EmptyEngine> {
  const cluster = await sharedCluster()
  const url = await cluster.createEmpty()
  const assertUsable = async () => {}
  return {
    engine: postgresEngine(url, { nowMs: () => 0, monotonicMs, assertUsable }),
    remove: () => cluster.drop(url),
  }
}

for (const suite of [storeSuite, accountSuite, channelSuite, pageSuite]) suite('PostgreSQL', makeEngine)
