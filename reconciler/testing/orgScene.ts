import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { Client } from '../../api/client/client.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { EndpointInput, ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'

/** What of a real server is needed here. */
export interface SceneServer {
  readonly url: string
  readonly createOrg: (options?: { readonly plan?: string }) => Promise<string>
  readonly createKey: (options: { readonly orgId: string; readonly scope?: Scope }) => Promise<string>
  readonly close: () => Promise<void>
}

/** What the API is sent for the manifest that `manifestOf` writes. */
export function serviceRequest(name: string, intervalSecs = 60): ServiceRequest {
  return {
    name,
    interval_secs: intervalSecs,
    regions: ['eu-west-1'],
    endpoints: [plainEndpoint(`https://${name}.example.com/`)],
  }
}

function plainEndpoint(url: string): EndpointInput {
  return { url, call: { Http: { method: 'GET', timeout: null } }, assertions: [] }
}

/**
 * A real server for a file of tests, and an organisation of its own for each test: what is read from the scene is
 * the running test's. Make one at the top of the file. Tests hand the server in, because this folder imports none.
 */
export class OrgScene<Server extends SceneServer> {
  server!: Server
  orgId!: string
  /** A read_write key of the organisation, for the program under test. */
  apiKey!: string
  /** Another client of the API, with another key of the same organisation. */
  client!: Client

  constructor(startServer: () => Promise<Server>) {
    beforeAll(async () => {
      this.server = await startServer()
    })
    afterAll(() => this.server.close())
    beforeEach(async () => {
      const { server } = this
      this.orgId = await server.createOrg({ plan: 'business' })
      this.apiKey = await server.createKey({ orgId: this.orgId })
      const othersKey = await server.createKey({ orgId: this.orgId })
      this.client = new Client({ url: server.url, apiKey: othersKey, userAgent: 'test' })
    })
    afterEach(() => this.client.close())
  }

  readonly services = async (): Promise<readonly ServiceResponse[]> => {
    const { services } = await this.client.listServices()
    return [...services].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  readonly names = async (): Promise<readonly string[]> => (await this.services()).map(({ name }) => name)

  readonly intervals = async (): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries((await this.services()).map(({ name, interval_secs }) => [name, interval_secs]))

  /** Gives a service of plain endpoints another interval, as a person would by hand. */
  readonly changeInterval = async (name: string, intervalSecs: number): Promise<void> => {
    const service = (await this.services()).find((one) => one.name === name)
    if (service === undefined) throw new Error(`there is no service ${name}`)
    const { id, regions } = service
    const endpoints = service.endpoints.map(({ url }) => plainEndpoint(url))
    await this.client.replaceService(id, { name, regions, interval_secs: intervalSecs, endpoints })
  }
}
