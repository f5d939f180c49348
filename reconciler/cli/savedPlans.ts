import { readFileSync, writeFileSync } from 'node:fs'
import type { Org } from '../../api/contract/org.ts'
import type { Chosen } from '../apply/applySet.ts'
import { chosenBy, type PlanHome, readSavedPlan, savedPlanText } from '../apply/savedPlan.ts'
import type { Situation } from '../apply/situation.ts'
import type { StateKey } from '../state/stateKey.ts'
import type { CommandContext } from './runCommand.ts'
import type { OpenScene } from './scene.ts'
import type { Session } from './session.ts'
import { UsageError } from './settings.ts'

/** Writes what `situation` would do to the file of --out, for its owner only. */
export async function savePlan(
  file: string,
  situation: Situation,
  org: Org,
  open: OpenScene<Session>,
): Promise<void> {
  const { home, key } = await homeOf(open, org)
  writeFileSync(file, savedPlanText(situation, home, key, new Date().toISOString()), { mode: 0o600 })
}

/** Chooses what the plan in the file of --plan said. Throws UsageError and SavedPlanError. */
export async function choiceOf(
  file: string,
  org: Org,
  open: OpenScene<Session>,
  { options }: CommandContext,
): Promise<(situation: Situation) => Chosen> {
  const { home, key } = await homeOf(open, org)
  const saved = readSavedPlan(textOf(file), home, key)
  return (situation) => chosenBy(saved, situation, options.strict === true)
}

/** A state that nothing was applied with yet counts as none: a plan can be made before it is there. */
async function homeOf(
  { session, loaded }: OpenScene<Session>,
  org: Org,
): Promise<{ readonly home: PlanHome; readonly key: StateKey | undefined }> {
  const isKnown = (await session.store.home()) !== null
  const stateId = isKnown ? session.store.stateId : null
  const home = { orgId: org.id, url: session.url, stateId, sourceName: loaded.name }
  return { home, key: isKnown && session.hasLastingKey ? session.stateKey : undefined }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the saved plan cannot be read: ${reason}`)
  }
}
