import { type DiagnosticError, failure } from '../../protocol/authoring/diagnostics.ts'
import { hasName, isUuid } from './identifiers.ts'
import type { ServiceReads } from './serviceReads.ts'

const NAME_PREFIX = 'name='

/**
 * The id of the service in `text`: a UUID, or `name=` with the exact name of exactly one service. Throws a
 * DiagnosticError for any other form, an unknown name or an ambiguous name.
 */
export async function importedId(text: string, reads: ServiceReads, signal: AbortSignal): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  if (!text.startsWith(NAME_PREFIX)) {
    throw refusal('An import id is the UUID of a service, or name= followed by its exact name.')
  }
  const name = text.slice(NAME_PREFIX.length)
  const services = [...(await reads.list(signal)).values()].filter(
    (service) => !(service instanceof Error) && hasName(service, name),
  )
  const ids = services.flatMap((service) => (service instanceof Error ? [] : [service.id]))
  const [id] = ids
  if (id === undefined) throw refusal(`No service of this organisation is called "${name}".`)
  if (ids.length > 1) {
    throw refusal(`${ids.length} services are called "${name}": import one by its id, ${ids.join(' or ')}.`)
  }
  return id
}

function refusal(detail: string): DiagnosticError {
  return failure('Cannot import the service', detail)
}
