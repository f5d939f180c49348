import { listFor } from '../protocol/authoring/listing.ts'
import { defineSchema } from '../protocol/authoring/schema.ts'
import type { Connection } from '../service/connection.ts'
import { toState } from '../service/read/toState.ts'
import { NAME_REGEX, servicesNamed } from './servicesFound.ts'

/** `list "pharos_service"`, for `terraform query`. */
export const servicesList = listFor<Connection>()({
  schema: defineSchema({
    description:
      'Finds services of the organisation for `terraform query` (Terraform 1.14), from a single list request.',
    attributes: { name_regex: NAME_REGEX },
  }),
  async list(context) {
    const services = await servicesNamed(context.config.name_regex, context)
    return services.map((service) => ({
      displayName: service.name,
      state: { ...toState(service, undefined), secrets_revision: 0 },
    }))
  },
})
