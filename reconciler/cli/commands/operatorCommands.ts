import { userInfo } from 'node:os'
import { visible } from '../../../api/contract/visibleText.ts'
import { isInScope } from '../../plan/safetyLimits.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { SUSPENSION_MS_MAX } from '../../state/model/record.ts'
import type { Command } from '../session/commandEntry.ts'
import type { CommandContext } from '../session/context.ts'
import { durationMs } from '../session/settings.ts'
import { writingWithoutLease } from '../session/stateAccess.ts'

/** Form of an approval digest. */
const DIGEST = /^[0-9a-f]{16}$/

/** Throws UsageError when `text` is no approval digest. */
export function requireDigest(text: string): void {
  if (!DIGEST.test(text))
    throw new UsageError(
      'the digest to approve is the 16 hexadecimal digits that "pharos plan" shows after --approve; the 32 digits of a whole plan go into "pharos apply --plan"',
    )
}

/** Suspends changes of the services of SCOPE. No request. */
export const suspendCommand: Command = ([scope = ''], context) => {
  const { options, output } = context
  const { reason } = options
  if (reason === undefined || reason.trim() === '')
    throw new UsageError('--reason is needed: status and later runs show it')
  const nowMs = Date.now()
  const forMs = options.for === undefined ? null : durationMs(options.for, '--for')
  if (forMs !== null && forMs > SUSPENSION_MS_MAX)
    throw new UsageError(
      '--for must be at most ten years: without it, "pharos state resume" ends the suspension',
    )
  return writingWithoutLease(context, async (store) => {
    const until = forMs === null ? null : new Date(nowMs + forMs).toISOString()
    const since = new Date(nowMs).toISOString()
    const suspension = { scope, reason, actor: actorOf(context), since, until }
    await store.suspend(suspension)
    const isMatched = scope === '*' || (await store.bindings()).some(({ key }) => isInScope(key, scope))
    if (!isMatched)
      output.notice(`no service of the state is in ${visible(scope)} so far: see "pharos state status"`)
    output.result(
      `${scope} is suspended${until === null ? ' until "pharos state resume"' : ` until ${until}`}`,
    )
    return { exitCode: EXIT.converged, document: { suspension } }
  })
}

/** Ends the suspension of SCOPE. No request. */
export const resumeCommand: Command = ([scope = ''], context) => {
  return writingWithoutLease(context, async (store) => {
    if (!(await store.resume(scope)))
      throw new UsageError(`there is no suspension of ${scope}: see "pharos state status"`)
    context.output.result(`${scope} is no longer suspended`)
    return { exitCode: EXIT.converged, document: { scope } }
  })
}

/** The name to record: --actor, or the user of the system. */
export function actorOf({ options, env }: CommandContext): string {
  if (options.actor !== undefined) return options.actor
  try {
    return userInfo().username
  } catch {
    // A container may run as a user without a name.
    return env.USER ?? 'unknown'
  }
}
