import type { PlanInput } from '../../apply/planResult.ts'
import { UsageError } from '../../run/failure.ts'
import { storeExists } from '../../state/openStore.ts'
import type { CommandContext } from './context.ts'
import { loadManifests, noticeEmpty } from './manifests.ts'
import type { Session } from './session.ts'
import { selectionOf } from './selection.ts'
import { createGraceMs, safetyLimits } from './settings.ts'

/** How a command reads manifests, and which session it opens. */
interface InputOptions<Opened extends Session> {
  readonly secrets: 'required' | 'optional'
  readonly regions: PlanInput['regions']
  readonly open: (context: CommandContext) => Promise<Opened>
}

/**
 * Reads the manifests below `path`, opens client and state, runs `command` on them and closes everything.
 * Throws UsageError where `path` is a slip of the hand.
 */
export async function withPlanInput<Opened extends Session, Result>(
  path: string,
  context: CommandContext,
  { secrets, regions, open }: InputOptions<Opened>,
  command: (input: PlanInput & Opened) => Promise<Result>,
): Promise<Result> {
  const { options, env } = context
  const { exists, name, set } = await loadManifests(path, context, secrets)
  const isSlip = (): UsageError => new UsageError(`there is nothing at ${path}`)
  // Before a command that writes makes a state of it.
  if (!exists && (options.state === undefined || !(await storeExists(options.state, env)))) throw isSlip()
  const session = await open(context)
  try {
    // A path that is not there is a mistake, unless services came from it before.
    const bindings = await session.store.bindings()
    if (!exists && bindings.length === 0) throw isSlip()
    noticeEmpty(set, path, context.output)
    const selection = selectionOf(
      options,
      set,
      bindings.map(({ key }) => key),
    )
    return await command({
      ...session,
      set,
      sourceExists: exists,
      sourceName: name,
      regions,
      selection,
      createGraceMs: createGraceMs(options),
      brakes: safetyLimits(options),
      areSecretsOptional: secrets === 'optional',
      nowMs: Date.now,
    })
  } finally {
    await session.close()
  }
}
