import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { warningAt } from '../protocol/authoring/diagnostics.ts'
import type { Connection } from './connection.ts'

/** Terraform merges equal warnings. */
const NOT_REFRESHED = warningAt(
  undefined,
  'Not refreshed',
  'The error of another resource says why. The state of this resource is unchanged.',
)

/**
 * The result of a failed read: the stored state with a warning, if an earlier read has failed for the same reason and
 * fails the run. Throws `failure` if it is the first one.
 */
export function stateAfterFailedRead(
  failure: unknown,
  { client, report }: ConfiguredContext<Connection>,
): { readonly state: Record<never, never> } {
  if (client.session?.noteFailedRead(failure) !== 'known') throw failure
  report(NOT_REFRESHED)
  return { state: {} }
}
