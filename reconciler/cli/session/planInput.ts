import type { PlanInput } from '../../apply/planResult.ts'
import { UsageError } from '../../run/failure.ts'
import { storeExists } from '../../state/openStore.ts'
import type { CommandContext } from './context.ts'
import { type LoadedManifests, loadManifests, noticeEmpty } from './manifests.ts'
import type { Session } from './session.ts'
import { createGraceMs, safetyLimits } from './settings.ts'

/** What a command on manifests works with. */
export interface OpenScene<Opened extends Session> {
  readonly loaded: LoadedManifests
  readonly session: Opened
  readonly scene: PlanInput & Opened
}

/** How a command looks at manifests. */
interface SceneWish<Opened extends Session> {
  readonly secrets: 'required' | 'optional'
  readonly regions: PlanInput['regions']
  readonly open: (context: CommandContext) => Promise<Opened>
}

/**
 * Reads the manifests below `path`, opens client and state, runs `command` on them and closes everything.
 * Throws UsageError where `path` is a slip of the hand.
 */
export async function withScene<Opened extends Session, Result>(
  path: string,
  context: CommandContext,
  wish: SceneWish<Opened>,
  command: (open: OpenScene<Opened>) => Promise<Result>,
): Promise<Result> {
  const { options, env } = context
  const loaded = await loadManifests(path, context, wish.secrets)
  const isSlip = (): UsageError => new UsageError(`there is nothing at ${path}`)
  // Before a command that writes makes a state of it.
  if (!loaded.exists && (options.state === undefined || !(await storeExists(options.state, env))))
    throw isSlip()
  const session = await wish.open(context)
  try {
    // A path that is not there is a mistake, unless services came from it before.
    if (!loaded.exists && (await session.store.bindings()).length === 0) throw isSlip()
    noticeEmpty(loaded.set, path, context.output)
    const scene = {
      ...session,
      set: loaded.set,
      sourceExists: loaded.exists,
      sourceName: loaded.name,
      regions: wish.regions,
      createGraceMs: createGraceMs(options),
      brakes: safetyLimits(options),
      areSecretsOptional: wish.secrets === 'optional',
      nowMs: Date.now,
    }
    return await command({ loaded, session, scene })
  } finally {
    await session.close()
  }
}
