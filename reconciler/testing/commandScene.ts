import { afterEach, beforeEach } from 'vitest'
import { type FaultProxy, startFaultProxy } from './faultProxy.ts'
import { OrgScene, type SceneServer } from './orgScene.ts'
import { TestWorkspace } from './testWorkspace.ts'

/** An organisation for each test, and a workspace whose program reaches the server through a proxy. */
export class CommandScene<Server extends SceneServer> extends OrgScene<Server> {
  /** Lets everything pass until a fault is set. */
  proxy!: FaultProxy
  /** The same object for the whole file, made afresh before each test. */
  readonly work = new TestWorkspace()

  constructor(startServer: () => Promise<Server>) {
    super(startServer)
    beforeEach(async () => {
      this.proxy = await startFaultProxy(this.server.url)
      this.work.make({ url: this.proxy.url, apiKey: this.apiKey })
    })
    afterEach(async () => {
      this.work.remove()
      await this.proxy.close()
    })
  }

  /** Runs `pharos COMMAND manifests --json ARGS` in the workspace: the document, and the exit code as `exit`. */
  readonly json = async (command: string, ...args: readonly string[]) => {
    const run = await this.work.run(command, '--json', ...args)
    return { ...JSON.parse(run.stdout), exit: run.exitCode }
  }
}
