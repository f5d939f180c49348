import { monotonicMs } from '../../process/systemEnvironment.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { accountSuite } from '../testing/accountSuite.ts'
import { autoIncidentSuite } from '../testing/autoIncidentSuite.ts'
import { channelSuite } from '../testing/channelSuite.ts'
import { monitoringSuite } from '../testing/monitoringSuite.ts'
import { pageSuite } from '../testing/pageSuite.ts'
import { type EmptyEngine, storeSuite } from '../testing/storeSuite.ts'
import { postgresEngine } from './postgresEngine.ts'

async function makeEngine(nowMs = () => 0): Promise<EmptyEngine> {
  const cluster = await sharedCluster()
  const url = await cluster.createEmpty()
  const assertUsable = async () => {}
  return {
    engine: postgresEngine(url, { nowMs, monotonicMs, assertUsable }),
    remove: () => cluster.drop(url),
  }
}

const SUITES = [storeSuite, accountSuite, autoIncidentSuite, channelSuite, monitoringSuite, pageSuite]
for (const suite of SUITES) suite('PostgreSQL', makeEngine)
