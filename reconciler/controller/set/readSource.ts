import { BrokenMirror, type Commit, SourceUnavailable } from '../../source/gitMirror.ts'
import { secretsFingerprint } from './secretsFingerprint.ts'
import type { Accepted, SetContext, SetMemory } from './setContext.ts'
import { withSetPolicy } from './setPolicy.ts'

/** What came of looking at the repository. */
export interface SourceLook {
  /** SHA of the newest commit of the branch, whatever became of it; null when it could not be asked for. */
  readonly head: string | null
  /** The manifests that are in force; null before any could be read. */
  readonly accepted: Accepted | null
  /** Why the repository cannot be read now; null when it can. */
  readonly sourceProblem: string | null
  /** The newest commit, where it is not the one in force because its signature does not count. */
  readonly refused: { readonly commit: Commit; readonly reason: string } | null
  /** Whether the head no longer contains what was last applied, and that is not acknowledged. */
  readonly isRewritten: boolean
  readonly baseline: string | null
}

/**
 * Fetches and compiles. What cannot be read, or may not be applied, leaves in force what was. Only a file that
 * changed is parsed again, and nothing is compiled while neither the commit nor a file of secrets changed.
 */
export async function readSource(
  context: SetContext,
  memory: SetMemory,
  signal: AbortSignal,
): Promise<SourceLook> {
  const { source } = context
  const { accepted, baseline } = memory
  const same = { accepted, refused: null, isRewritten: false, baseline }
  let head: string | null = null
  try {
    head = await source.fetch(signal)
    const reason = await refusalOf(context, head)
    if (reason !== null) {
      const commit = await source.commit(head)
      return { ...same, head, sourceProblem: null, refused: { commit, reason } }
    }
    const now = await acceptedNow(context, accepted, head)
    return {
      ...same,
      head,
      accepted: now,
      sourceProblem: null,
      ...(await historyOf(context, baseline, head)),
    }
  } catch (error) {
    if (!(error instanceof SourceUnavailable || error instanceof BrokenMirror)) throw error
    return { ...same, head, sourceProblem: error.message }
  }
}

async function refusalOf({ source, settings }: SetContext, head: string): Promise<string | null> {
  const { allowedSignersFile, gpgKeysFile } = settings.access
  if (allowedSignersFile === undefined && gpgKeysFile === undefined) return null
  return source.signatureProblem(head)
}

async function acceptedNow(
  { source, settings }: SetContext,
  before: Accepted | null,
  head: string,
): Promise<Accepted> {
  const fingerprint = secretsFingerprint(settings.secretsDirectory)
  const isSame = before?.loaded.commit.sha === head && before.secretsFingerprint === fingerprint
  if (isSame) return before
  const loaded = await source.load(head, {
    env: settings.manifestEnv,
    secretsDirectory: settings.secretsDirectory,
    allowInlineSecrets: false,
    secrets: 'required',
  })
  return { loaded, set: withSetPolicy(loaded.set, settings.config), secretsFingerprint: fingerprint }
}

async function historyOf(
  { source, store }: SetContext,
  baseline: string | null,
  head: string,
): Promise<Pick<SourceLook, 'isRewritten' | 'baseline'>> {
  if (baseline === null || baseline === head || (await source.contains(head, baseline))) {
    return { isRewritten: false, baseline }
  }
  if (await store.useHistoryAcknowledgement(head)) return { isRewritten: false, baseline: head }
  return { isRewritten: true, baseline }
}
