import type { ServiceResponse } from '../../api/contract/service.ts'
import { DiagnosticError, errorAt } from '../protocol/diagnostics.ts'
import type { Session } from '../service/session.ts'

/** All services of the organisation that can be read, by name and then by id; the others as the Errors that say why. */
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

/** The argument that says which services are wanted. */
export const NAME_REGEX = {
  type: 'string',
  optional: true,
  description: 'Only services whose name this matches somewhere, in RE2 syntax. Default: all.',
} as const

/**
 * Whether a name matches `pattern`; every name without one. Throws a DiagnosticError at name_regex. The engine takes linear time and is loaded only here.
 */
export async function nameFilter(pattern: string | null): Promise<(name: string) => boolean> {
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
