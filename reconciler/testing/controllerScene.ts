import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { Client } from '../../api/client/client.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { manifestOf } from './pharosProgram.ts'
import { type TestController, type TestControllerOptions, testController } from './testController.ts'

/** What of a real server is needed here, and how to start one: tests hand it in. */
interface SceneServer {
  readonly url: string
  readonly createOrg: (options: { readonly plan: string }) => Promise<string>
  readonly createKey: (options: { readonly orgId: string }) => Promise<string>
  readonly close: () => Promise<void>
}
export type StartSceneServer = (options: { readonly rateLimit: 'none' }) => Promise<SceneServer>

/** A real server with an organisation of its own for each test, and controllers that are closed after it. */
export interface ControllerScene {
  readonly server: () => SceneServer
  /** A key of the test's organisation, and one more that the test itself uses. */
  readonly apiKey: () => string
  readonly client: () => Client
  readonly controllerOf: (options?: Partial<TestControllerOptions>) => Promise<TestController>
  /** Services by name. */
  readonly services: () => Promise<readonly ServiceResponse[]>
  readonly names: () => Promise<readonly string[]>
  readonly intervals: () => Promise<Readonly<Record<string, number>>>
  /** Changes a service by hand. */
  readonly changeInterval: (name: string, intervalSecs: number) => Promise<void>
}

/** Manifests below `monitoring/`, one file for each key. */
export function manifestFiles(...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [`monitoring/${key}.yaml`, manifestOf(key)]))
}

/** Registers what a file of tests on controllers needs. */
export function controllerScene(startServer: StartSceneServer): ControllerScene {
  let server: SceneServer
  let apiKey: string
  let client: Client
  let controllers: TestController[]
  beforeAll(async () => {
    server = await startServer({ rateLimit: 'none' })
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    const orgId = await server.createOrg({ plan: 'business' })
    apiKey = await server.createKey({ orgId })
    client = new Client({ url: server.url, apiKey: await server.createKey({ orgId }), userAgent: 'test' })
    controllers = []
  })
  afterEach(async () => {
    for (const one of controllers) await one.close()
    await client.close()
  })
  const services = async (): Promise<readonly ServiceResponse[]> => {
    const { services: list } = await client.listServices()
    return [...list].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  return {
    server: () => server,
    apiKey: () => apiKey,
    client: () => client,
    controllerOf: async (options = {}) => {
      const made = await testController({ url: server.url, apiKey, ...options })
      controllers.push(made)
      return made
    },
    services,
    names: async () => (await services()).map(({ name }) => name),
    intervals: async () =>
      Object.fromEntries((await services()).map(({ name, interval_secs }) => [name, interval_secs])),
    changeInterval: async (name, intervalSecs) => {
      const service = (await services()).find((one) => one.name === name)
      if (service === undefined) throw new Error(`there is no ${name}`)
      const call = { Http: { method: 'GET', timeout: null } } as const
      await client.replaceService(service.id, {
        name,
        regions: service.regions,
        interval_secs: intervalSecs,
        endpoints: [{ url: `https://${name}.example.com/`, call, assertions: [] }],
      })
    },
  }
}
