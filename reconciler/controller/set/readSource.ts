import type { Commit } from '../../source/gitCommit.ts'
import { BrokenMirror, SourceUnavailable } from '../../source/gitMirror.ts'
import { secretsFingerprint } from './secretsFingerprint.ts'
import type { Accepted, SetContext, SetMemory } from './setContext.ts'
import { withSetPolicy } from './setPolicy.ts'

/** The result of fetching and compiling the repository. */
export interface SourceResult {
  /** SHA of the newest commit of the branch, accepted or not; null when it could not be fetched. */
  readonly head: string | null
  /** The manifests that are in force; null before any could be read. */
  readonly accepted: Accepted | null
  /** Why the repository cannot be read; null when it can. */
  readonly sourceProblem: string | null
  /** The newest commit, if it was refused because of its signature. */
  readonly refused: { readonly commit: Commit; readonly reason: string } | null
  /** Whether the history of the branch was rewritten and not acknowledged. */
  readonly isRewritten: boolean
  readonly baseline: string | null
}

/**
 * Fetches and compiles the manifests. If they cannot be read or must not be applied, the previous ones remain in force. Only
 * changed files are parsed, and nothing is compiled unless the commit or a file of secrets changed.
 */
export async function readSource(
  context: SetContext,
  memory: SetMemory,
  signal: AbortSignal,
): Promise<SourceResult> {
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
    withheld: settings.withheldVariables,
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
): Promise<Pick<SourceResult, 'isRewritten' | 'baseline'>> {
  if (baseline === null || baseline === head || (await source.contains(head, baseline))) {
    return { isRewritten: false, baseline }
  }
  if (await store.useHistoryAcknowledgement(head)) return { isRewritten: false, baseline: head }
  return { isRewritten: true, baseline }
}
