import type { ServiceResponse } from '../../api/contract/service.ts'
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
