import { afterEach, beforeEach } from 'vitest'
import type { Client } from '../../api/client/client.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { manifestOf } from './manifestOf.ts'
import { OrgScene, type SceneServer } from './orgScene.ts'
import { type TestController, type TestControllerOptions, testController } from './testController.ts'

export type StartSceneServer = (options: { readonly rateLimit: 'none' }) => Promise<SceneServer>

/** A real server with an organisation of its own for each test, and controllers that are closed after it. */
export interface ControllerScene {
  readonly server: () => SceneServer
  /** A key of the test's organisation, and one more that the test itself uses. */
  readonly apiKey: () => string
  readonly client: () => Client
  readonly controllerOf: (options?: Partial<TestControllerOptions>) => Promise<TestController>
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
  const org = new OrgScene(() => startServer({ rateLimit: 'none' }))
  let controllers: TestController[]
  beforeEach(() => {
    controllers = []
  })
  afterEach(async () => {
    for (const one of controllers) await one.close()
  })
  const { services, names, intervals, changeInterval } = org
  return {
    server: () => org.server,
    apiKey: () => org.apiKey,
    client: () => org.client,
    controllerOf: async (options = {}) => {
      const made = await testController({ url: org.server.url, apiKey: org.apiKey, ...options })
      controllers.push(made)
      return made
    },
    services,
    names,
    intervals,
    changeInterval,
  }
}
