import type { ServiceResponse } from '../../api/contract/service.ts'
import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { DiagnosticError, errorAt, warningAt } from '../protocol/authoring/diagnostics.ts'
import { optional } from '../protocol/authoring/schema.ts'
import type { Connection } from '../service/connection.ts'
import { runInSession } from '../service/runTask.ts'
import type { Session } from '../service/session.ts'

/** All services of the organisation, sorted by name and id, with an Error for each that cannot be parsed. */
export async function listedServices(
  session: Session,
  signal: AbortSignal,
): Promise<{ readonly services: readonly ServiceResponse[]; readonly unreadable: readonly Error[] }> {
  const listed = [...(await session.reads.list(signal)).values()]
  const services = listed.filter((service): service is ServiceResponse => !(service instanceof Error))
  const order = (service: ServiceResponse): string => `${service.name}\0${service.id}`
  return {
    services: services.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
    unreadable: listed.filter((service) => service instanceof Error),
  }
}

/** The argument that filters services. */
export const NAME_REGEX = optional(
  'string',
  'Only services whose name contains a match of this regular expression (RE2 syntax). Default: all.',
)

/**
 * The services whose name matches `pattern`, in order; all when it is null. Services that cannot be parsed are left out
 * with a warning. Throws a DiagnosticError at name_regex, or for an unexpected organisation.
 */
export async function servicesNamed(
  pattern: string | null,
  context: ConfiguredContext<Connection>,
): Promise<readonly ServiceResponse[]> {
  return runInSession({ task: 'list the services', operation: 'read' }, context, async (session, signal) => {
    const isWanted = await nameFilter(pattern)
    const { services, unreadable } = await listedServices(session, signal)
    for (const { message } of unreadable) {
      context.report(warningAt(undefined, 'A service was left out', `${message}.`))
    }
    return services.filter(({ name }) => isWanted(name))
  })
}

/**
 * Resolves with a function that tells whether a name matches `pattern`; every name does when it is null. Throws a
 * DiagnosticError at name_regex. The engine runs in linear time and is loaded only here.
 */
async function nameFilter(pattern: string | null): Promise<(name: string) => boolean> {
  if (pattern === null) return () => true
  const { RE2JS } = await import('re2js')
  try {
    const compiled = RE2JS.compile(pattern)
    return (name) => compiled.matcher(name).find()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DiagnosticError(errorAt(['name_regex'], 'Invalid regular expression', `${reason}.`))
  }
}
