import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { warningAt } from '../protocol/authoring/diagnostics.ts'
import type { Connection } from './connection.ts'

/** Terraform shows equal warnings once, and counts the others. */
const NOT_REFRESHED = warningAt(
  undefined,
  'Not refreshed',
  'The error of another resource says why. The state of this resource is unchanged.',
)

/**
 * What a read that failed answers: the stored state as it was, with a warning, when another read has failed for the very
 * same reason, since the run fails anyway then. Throws `failure` when it is the first.
 */
export function notRefreshed(
  failure: unknown,
  { client, report }: ConfiguredContext<Connection>,
): { readonly state: Record<never, never> } {
  if (client.session?.noteFailedRead(failure) !== 'known') throw failure
  report(NOT_REFRESHED)
  return { state: {} }
}
