import type { PlannedOf } from '../../protocol/authoring/inferred.ts'
import { UNKNOWN, type Unknown } from '../../protocol/values/value.ts'
import type { EndpointConfig, ServiceConfig } from '../schema/config.ts'
import type { serviceSchema } from '../schema/schema.ts'

type HttpConfig = Exclude<EndpointConfig['http'], Unknown>
type ValueConfig = HttpConfig['body']

/**
 * The definition that an update sends: the planned values, because `ignore_changes` may keep some of the state there,
 * with the write-only values of the configuration, which no plan contains. Pure.
 */
export function plannedDefinition(
  { name, interval, regions, endpoints }: PlannedOf<typeof serviceSchema>,
  config: ServiceConfig,
): ServiceConfig {
  const configured = config.endpoints === UNKNOWN ? [] : config.endpoints
  return {
    ...config,
    ...{ name, interval, regions },
    endpoints: endpoints.map((endpoint, index) => withSecrets(endpoint, configured[index])),
  }
}

function withSecrets(
  planned: EndpointConfig,
  configured: EndpointConfig | Unknown | undefined,
): EndpointConfig {
  if (configured === undefined || configured === UNKNOWN) return planned
  const { http } = planned
  const source = configured.http
  if (http === UNKNOWN || source === UNKNOWN) return planned
  const { body, headers } = http
  return {
    ...planned,
    http: {
      ...http,
      body: withSecret(body, source.body),
      headers:
        headers === UNKNOWN || headers === null
          ? headers
          : new Map([...headers].map(([name, header]) => [name, withSecret(header, headerOf(source, name))])),
    },
  }
}

function headerOf({ headers }: HttpConfig, name: string): ValueConfig | undefined {
  if (headers === UNKNOWN || headers === null) return undefined
  return [...headers].find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
}

/** `planned` with the secret of `configured`, unless the plan has a value in clear text. */
function withSecret<T extends ValueConfig>(planned: T, configured: ValueConfig | undefined): T {
  if (planned === null || planned === UNKNOWN || typeof planned !== 'object') return planned
  if (planned.value !== null || configured == null || configured === UNKNOWN) return planned
  return { ...planned, value_wo: configured.value_wo }
}
