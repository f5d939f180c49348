import type { ServiceResponse } from '../../api/contract/service.ts'
import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import { type AnyDataSource, dataSourceFor } from '../protocol/authoring/provider.ts'
import { defineSchema, optional, type Schema } from '../protocol/authoring/schema.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Connection } from '../service/connection.ts'
import { hasName } from '../service/read/identifiers.ts'
import { toState } from '../service/read/toState.ts'
import { runInSession } from '../service/runTask.ts'
import { serviceSchema } from '../service/schema/schema.ts'
import type { Session } from '../service/session.ts'
import { computedAttributes } from './computedAttributes.ts'
import { listedServices } from './servicesFound.ts'

const { timeouts, secrets_revision, ...read } = serviceSchema.attributes
const { body, headers, ...request } = read.endpoints.attributes.http.attributes
const { value_wo_version, ...value } = body.attributes
const attributes = {
  ...value,
  value: { ...value.value, description: 'The value in clear text; null if it is sealed.' },
}

/** The HTTP request without attributes that exist only in a configuration, such as versions of secrets. */
const http = {
  ...request,
  body: { ...body, attributes, description: 'Request body. API: `body`.' },
  headers: { ...headers, attributes, description: 'Request headers by name. API: `headers`.' },
}

const schema: Schema = defineSchema({
  description:
    'One service, found by id or by exact name. Sealed values are null: only their key ids can be read.',
  attributes: {
    ...computedAttributes({
      ...read,
      paused: { ...read.paused, description: 'Whether checks are paused.' },
      endpoints: {
        ...read.endpoints,
        description: 'Endpoints that are checked. API: `endpoints`.',
        attributes: {
          ...read.endpoints.attributes,
          http: { ...read.endpoints.attributes.http, attributes: http },
        },
      },
    }),
    id: { ...optional('string', 'UUID of the service. Exactly one of `id` and `name`.'), computed: true },
    name: {
      ...optional(
        'string',
        'Exact name of the service; an error if several services have it. Exactly one of `id` and `name`.',
      ),
      computed: true,
    },
  },
})

/** `data.pharos_service`. */
export const serviceData: AnyDataSource<Connection> = dataSourceFor<Connection>()({
  schema,
  validate({ config, report }) {
    const given = [config.id, config.name].filter((text) => text !== null)
    if (given.includes(UNKNOWN) || given.length === 1) return
    report(errorAt(undefined, 'Invalid data source', 'Set exactly one of id and name.'))
  },
  async read(context) {
    const { config } = context
    return runInSession({ task: 'read the service', operation: 'read' }, context, async (session, signal) => {
      const service =
        typeof config.id === 'string'
          ? await serviceById(session, config.id, signal)
          : await serviceByName(session, String(config.name), signal)
      return { state: withoutVersions(toState(service, undefined)) }
    })
  },
})

async function serviceById(session: Session, id: string, signal: AbortSignal): Promise<ServiceResponse> {
  const service = await session.reads.read({ id: id.toLowerCase(), orgId: null }, signal)
  if (service !== null) return service
  throw refusal('id', `This organisation has no service ${id}.`)
}

async function serviceByName(session: Session, name: string, signal: AbortSignal): Promise<ServiceResponse> {
  const { services } = await listedServices(session, signal)
  const found = services.filter((service) => hasName(service, name))
  const [only] = found
  if (only === undefined) throw refusal('name', `No service of this organisation is called "${name}".`)
  if (found.length === 1) return only
  const ids = found.map(({ id }) => id).join(' or ')
  const detail = `${found.length} services are called "${name}": name one by its id, ${ids}.`
  throw refusal('name', detail, 'Several services of this name')
}

function refusal(attribute: string, detail: string, summary = 'No such service'): DiagnosticError {
  return new DiagnosticError(errorAt([attribute], summary, detail))
}

/** `state` without the write-only values and versions of secrets, which exist only in a configuration. */
function withoutVersions(state: ReturnType<typeof toState>): object {
  const plain = ({ value }: { readonly value?: string | null }): object => ({ value })
  return {
    ...state,
    endpoints: state.endpoints?.map((endpoint) => {
      const { body = null, headers = null } = endpoint.http ?? {}
      const http = {
        ...endpoint.http,
        body: body === null ? null : plain(body),
        headers:
          headers instanceof Map
            ? new Map([...headers].map(([name, header]) => [name, plain(header)]))
            : null,
      }
      return { ...endpoint, http }
    }),
  }
}
