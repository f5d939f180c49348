import type { PlanInput } from '../../apply/planResult.ts'
import { storeExists } from '../../state/openStore.ts'
import type { CommandContext } from './context.ts'
import { loadManifests, missingPath, noticeEmpty } from './manifests.ts'
import { selectionOf } from './selection.ts'
import { closingAfter, type Session } from './session.ts'
import { createGraceMs, safetyLimits } from './settings.ts'

/** Options for reading manifests, and the session to open. */
interface InputOptions<Opened extends Session> {
  readonly secrets: 'required' | 'optional'
  readonly regions: PlanInput['regions']
  readonly open: (context: CommandContext) => Promise<Opened>
}

/**
 * Reads the manifests below `path`, opens client and state, runs `command` with them and closes both. Throws UsageError when
 * `path` does not exist and the state has no services.
 */
export async function withPlanInput<Opened extends Session, Result>(
  path: string,
  context: CommandContext,
  { secrets, regions, open }: InputOptions<Opened>,
  command: (input: PlanInput & Opened) => Promise<Result>,
): Promise<Result> {
  const { options, env } = context
  const { exists, name, set } = await loadManifests(path, context, secrets)
  // Checked before a command that writes creates a state.
  if (!exists && (options.state === undefined || !(await storeExists(options.state, env))))
    throw missingPath(path)
  return closingAfter(await open(context), async (session) => {
    // A missing path is a mistake, unless the state has services, which then were applied from it.
    const bindings = await session.store.bindings()
    if (!exists && bindings.length === 0) throw missingPath(path)
    noticeEmpty(set, path, context.output)
    const selection = selectionOf(
      options,
      set,
      bindings.map(({ key }) => key),
    )
    return command({
      ...session,
      set,
      sourceExists: exists,
      sourceName: name,
      regions,
      selection,
      createGraceMs: createGraceMs(options),
      safetyLimits: safetyLimits(options),
      areSecretsOptional: secrets === 'optional',
      nowMs: Date.now,
    })
  })
}
