import { guardOrg } from '../apply/situation.ts'
import { openSqliteStore, readSqliteStore } from '../state/sqliteStore.ts'
import type { StateStore } from '../state/store.ts'
import { EXIT } from './exitCode.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'
import { openSession, requireExistingState } from './session.ts'
import { UsageError } from './settings.ts'

/** Most runs that `history` shows. */
const RUNS_MAX = 50

/** Shows what the state holds: which manifest has which service, and what is not settled. No request. */
export async function statusCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  return withState(context, 'read', async (store) => {
    const { output } = context
    const [home, bindings, intents] = await Promise.all([store.home(), store.bindings(), store.openIntents()])
    output.result(home === null ? 'nothing was applied yet' : `organisation ${home.orgId} at ${home.url}`)
    for (const { key, serviceId, tombstone, protect } of bindings) {
      const notes = [protect ? 'protected' : '', tombstone ? 'paused, its manifest is gone' : ''].filter(
        (note) => note !== '',
      )
      output.result(`  ${key}: service ${serviceId}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`)
    }
    for (const { key, kind } of intents)
      output.result(output.paint.yellow(`  ? ${key}: ${kind} sent, outcome not recorded`))
    const services = bindings.map(({ key, serviceId: id, onDelete, protect, tombstone }) => ({
      key,
      id,
      onDelete,
      protect,
      tombstone,
    }))
    const open = intents.map(({ key, kind, sentAtMs }) => ({
      key,
      kind,
      sentAt: new Date(sentAtMs).toISOString(),
    }))
    return { exitCode: EXIT.converged, document: { home, services, open } }
  })
}

/** Shows the last runs that changed something or tried to. No request. */
export async function historyCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  return withState(context, 'read', async (store) => {
    const runs = await store.runs(RUNS_MAX)
    for (const run of runs) {
      const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
      const text = counts.map(([what, count]) => `${count} ${what}`).join(', ')
      context.output.result(`${run.startedAt}  ${run.command}  exit ${run.exitCode}  ${text}`)
    }
    if (runs.length === 0) context.output.result('no run yet')
    return { exitCode: EXIT.converged, document: { runs } }
  })
}

/** Makes service ID the one of manifest NAME. The next apply makes it as the manifest says. Two requests. */
export async function bindCommand(
  [key = '', id = '']: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  requireState(context)
  const session = await openSession(context.options, context.env, context.output, 'write')
  try {
    const { store, client } = session
    const org = await guardOrg(session)
    const service = await client.getService(id)
    const bindings = await store.bindings()
    const owner = bindings.find((binding) => binding.serviceId === service.id && binding.key !== key)
    if (owner !== undefined) throw new UsageError(`service ${id} belongs to ${owner.key}: unbind that first`)
    const before = bindings.find((binding) => binding.key === key)
    if (before !== undefined) throw new UsageError(`${key} has service ${before.serviceId}: unbind it first`)
    await store.settleIn({ orgId: org.id, url: session.url, source: null })
    await store.save({
      put: {
        key,
        serviceId: service.id,
        desired: null,
        observed: null,
        paused: null,
        onDelete: 'detach',
        protect: false,
        tombstone: false,
      },
    })
    context.output.result(
      `${key} is now service ${service.id} "${service.name}"; see "pharos plan" for what differs`,
    )
    return { exitCode: EXIT.converged, document: { key, id: service.id, requests: session.requests() } }
  } finally {
    await session.close()
  }
}

/** Forgets which service manifest NAME has, and leaves the service alone. No request. */
export async function unbindCommand(
  [key = '']: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  return withState(context, 'write', async (store) => {
    const binding = await boundAs(key, store)
    await store.save({ drop: key })
    context.output.result(`${key} no longer has service ${binding.serviceId}, which is left as it is`)
    return { exitCode: EXIT.converged, document: { key, id: binding.serviceId } }
  })
}

async function boundAs(key: string, store: StateStore) {
  const binding = (await store.bindings()).find((one) => one.key === key)
  if (binding === undefined) throw new UsageError(`the state has no service for ${key}: see "pharos status"`)
  return binding
}

function requireState({ options }: CommandContext): string {
  if (options.state === undefined) throw new UsageError('this command needs --state FILE')
  return options.state
}

async function withState(
  context: CommandContext,
  mode: 'read' | 'write',
  command: (store: StateStore) => Promise<CommandResult>,
): Promise<CommandResult> {
  const path = requireState(context)
  requireExistingState(path)
  const store = await (mode === 'write' ? openSqliteStore(path) : readSqliteStore(path))
  try {
    return await command(store)
  } finally {
    await store.close()
  }
}
