import { onTestFinished } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import { pharosProvider } from '../pharosProvider.ts'
import { serveForReattach } from '../protocol/reattach.ts'
import { connect } from '../protocol/testing/providerClient.ts'
import { openCore } from '../protocol/testing/terraformCore.ts'
import { startRecordingProxy } from './recordingProxy.ts'

/** A running server. */
interface Served {
  readonly url: string
  readonly apiKey: string
  readonly orgId: string
  readonly close: () => Promise<unknown>
}

/**
 * A provider in this process in front of `server`, and a client of the server; all are closed at the end of the running
 * test. `isGuarded`: the provider expects the organisation of its key.
 */
export async function openProvider(server: Served, { isGuarded = false } = {}) {
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  const byHand = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test', limiter })
  const proxy = await startRecordingProxy(server.url)
  const environment = {
    ...{ PHAROS_URL: proxy.url, PHAROS_API_KEY: server.apiKey },
    ...(isGuarded ? { PHAROS_EXPECTED_ORG_ID: server.orgId } : {}),
  }
  const served = await serveForReattach(pharosProvider('1.2.3', environment), ['pharos/pharos'])
  const client = connect(served.target)
  onTestFinished(async () => {
    client.close()
    served.close()
    await byHand.close()
    await proxy.close()
    await server.close()
  })
  return { byHand, proxy, client, core: await openCore(client) }
}
