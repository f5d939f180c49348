import { readFileSync } from 'node:fs'
import type { Org } from '../../api/contract/org.ts'
import type { Chosen } from '../apply/applySet.ts'
import { chosenBy, type PlanHome, readSavedPlan, savedPlanText } from '../apply/savedPlan.ts'
import type { Situation } from '../apply/situation.ts'
import type { StateKey } from '../state/stateKey.ts'
import { fileReason } from './fileFailure.ts'
import { requireOutputPlace, writeOutput } from './outputFile.ts'
import type { CommandContext } from './runCommand.ts'
import type { OpenScene } from './scene.ts'
import type { Session } from './session.ts'
import { UsageError } from './settings.ts'

/** Throws where --out names no place for a plan: before anything is asked for. */
export function requirePlanPlace(file: string): void {
  if (file === '-')
    throw new UsageError('--out needs a file: on stdout the plan is shown, with --json as data')
  requireOutputPlace(file)
}

/** Writes what `situation` would do to the file of --out, for its owner only. */
export async function savePlan(
  file: string,
  situation: Situation,
  org: Org,
  open: OpenScene<Session>,
): Promise<void> {
  const { home, key } = await homeOf(open, org)
  writeOutput(file, savedPlanText(situation, home, key, new Date().toISOString()))
}

/** Chooses what the saved plan `text` said. Throws SavedPlanError. */
export async function choiceOf(
  text: string,
  org: Org,
  open: OpenScene<Session>,
  { options }: CommandContext,
): Promise<(situation: Situation) => Chosen> {
  const { home, key } = await homeOf(open, org)
  const saved = readSavedPlan(text, home, key)
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

/** What the file of --plan holds. Throws UsageError. */
export function savedPlanIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`the saved plan ${file} cannot be read: ${fileReason(error)}`)
  }
}
