import { warningAt } from '../protocol/diagnostics.ts'
import { listFor } from '../protocol/listing.ts'
import { defineSchema } from '../protocol/schema/schema.ts'
import { type Connection, connected } from '../service/connection.ts'
import { explained } from '../service/explain.ts'
import { toState } from '../service/toState.ts'
import { listedServices, NAME_REGEX, nameFilter } from './servicesFound.ts'

/** `list "pharos_service"`, for `terraform query`. */
export const servicesList = listFor<Connection>()({
  schema: defineSchema({
    description:
      'Finds services of the organisation for `terraform query` (Terraform 1.14), from one list request however many there are.',
    attributes: { name_regex: NAME_REGEX },
  }),
  async list({ config, client, signal, report }) {
    return explained('list the services', async () => {
      const session = connected(client)
      await session.checkExpectedOrg()
      const isWanted = await nameFilter(config.name_regex)
      const { services, unreadable } = await listedServices(session, signal)
      for (const { message } of unreadable)
        report(warningAt(undefined, 'A service was left out', `${message}.`))
      return services
        .filter(({ name }) => isWanted(name))
        .map((service) => ({
          displayName: service.name,
          state: { ...toState(service, undefined), secrets_revision: 0 },
        }))
    })
  },
})
