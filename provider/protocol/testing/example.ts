import { errorAt } from '../authoring/diagnostics.ts'
import { resourceFor } from '../authoring/provider.ts'
import { defineSchema } from '../authoring/schema.ts'
import { defineProvider } from '../defineProvider.ts'
import { served } from '../plugin/providerRpcs.ts'
import { serveProvider } from '../serveProvider.ts'
import { isUnknown, UNKNOWN } from '../values/value.ts'

/** The result of `configure`, which every handler gets as `client`. */
interface Client {
  readonly servers: Map<string, { name: string; size: number }>
}

const server = resourceFor<Client>()({
  schema: defineSchema({
    description: 'A server.',
    attributes: {
      id: { type: 'string', computed: true, stable: true },
      name: { type: 'string', required: true },
      size: { type: 'number', required: true },
      password: { type: 'string', optional: true, writeOnly: true },
      restarts: { type: 'number', computed: true },
    },
  }),
  validate({ config, report }) {
    // Anything may be unknown during validation. Skip the rule then: validation runs again later.
    if (isUnknown(config.name)) return
    if (config.name.length > 63) report(errorAt(['name'], 'Name too long', 'Use at most 63 characters.'))
  },
  plan({ change }) {
    if (change.action !== 'update' || change.hasChanges) return undefined
    // Terraform never compares a write-only value, but a hook can still request an update.
    return change.config.password === UNKNOWN ? { planned: { restarts: UNKNOWN } } : undefined
  },
  read({ client, prior }) {
    const found = client.servers.get(prior.id ?? '')
    return found === undefined ? null : { state: { ...found, restarts: prior.restarts } }
  },
  async create({ client, planned, config, keep, signal, log }) {
    const id = `srv-${client.servers.size + 1}`
    client.servers.set(id, { name: planned.name, size: Number(planned.size) })
    // From here on the server exists, so it must be in the state even if the next line fails.
    keep({ id })
    await startServer(id, config.password, signal)
    log.info('started a server', { id })
    return { state: { id, restarts: 0 } }
  },
  update({ client, planned, prior }) {
    client.servers.set(prior.id ?? '', { name: planned.name, size: Number(planned.size) })
    return { state: { restarts: Number(prior.restarts) + 1 } }
  },
  delete({ client, prior }) {
    client.servers.delete(prior.id ?? '')
  },
  import: ({ id }) => ({ state: { id } }),
})

async function startServer(_id: string, _password: string | null, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
}

/** The provider `cloud`. */
export const cloud = defineProvider({
  name: 'cloud',
  version: '1.0.0',
  schema: defineSchema({ attributes: { endpoint: { type: 'string', optional: true } } }),
  configure: (): Client => ({ servers: new Map() }),
  resources: { cloud_server: server },
})

/** Entry point of the executable. */
export const main = (): Promise<void> => serveProvider('cloud', { provider: async () => served(cloud) })
