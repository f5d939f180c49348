import {
  ASSERTION_LAYOUTS,
  type Assertion,
  type AssertionOperator,
  assertionParts,
  type DurationComparison,
} from '../../../api/contract/assertion.ts'
import {
  compareDurations,
  type Duration,
  formatDuration,
  parseDuration,
} from '../../../api/contract/duration.ts'
import type { EndpointOutput, SensitiveOutput, ServiceResponse } from '../../../api/contract/service.ts'
import type { ResultOf, StateOf } from '../../protocol/authoring/inferred.ts'
import { KINDS } from '../schema/assertionKinds.ts'
import { attributeNameOf, OPERATORS, PHASES, SUBJECTS } from '../schema/operators.ts'
import type { serviceSchema } from '../schema/schema.ts'

export type ServiceResult = ResultOf<typeof serviceSchema>
export type ServiceState = StateOf<typeof serviceSchema>
type EndpointState = NonNullable<ServiceState['endpoints']>[number]
type HttpState = NonNullable<EndpointState['http']>
type AssertionState = NonNullable<EndpointState['assertions']>[number]
type ValueState = NonNullable<HttpState['body']>

/**
 * The state of a service from the API's response. `prior` is the stored state, whose form is kept where the API does
 * not distinguish two forms (such as no headers and an empty map, or the case of a header's name).
 *
 * A sealed value is always null: it is write-only, and the API never returns it. Pure.
 */
export function toState(response: ServiceResponse, prior: ServiceState | undefined): ServiceResult {
  const endpoints = response.endpoints.map((endpoint, index) =>
    endpointState(endpoint, prior?.endpoints?.[index]),
  )
  return {
    id: response.id,
    name: response.name,
    interval: keepSpelling({ secs: response.interval_secs, nanos: 0 }, prior?.interval),
    regions: response.regions,
    endpoints,
    ...observedState(response, endpoints),
  }
}

/** The attributes of a service that only the server sets. Pure. */
export function observedState(
  response: ServiceResponse,
  endpoints: readonly EndpointState[] = response.endpoints.map((endpoint) =>
    endpointState(endpoint, undefined),
  ),
): Omit<ServiceResult, 'name' | 'interval' | 'regions' | 'endpoints'> {
  return {
    id: response.id,
    org_id: response.org_id,
    created_at: response.created_at,
    created_by_email: response.created_by_email ?? null,
    paused: response.paused_at != null,
    paused_at: response.paused_at ?? null,
    auto_incident: {
      enabled: response.auto_incident_enabled,
      failure_threshold: response.auto_incident_failure_threshold ?? null,
      window_minutes: response.auto_incident_window_minutes ?? null,
    },
    endpoint_ids: response.endpoints.map(({ id }) => id),
    endpoints_blocked: response.endpoints.map(({ blocked }) => blocked),
    sealed_key_ids: new Map(sealedKeyIds(response, endpoints)),
  }
}

function sealedKeyIds(
  response: ServiceResponse,
  endpoints: readonly EndpointState[],
): readonly (readonly [string, string])[] {
  return response.endpoints.flatMap(({ call }, index) => {
    const names = [...(endpoints[index]?.http?.headers?.keys() ?? [])]
    const slots: (readonly [string, SensitiveOutput])[] = Object.entries(call.Http.headers ?? {}).map(
      ([name, output]) => [`${index}.headers.${spellingOf(name, names)}`, output],
    )
    if (call.Http.body != null) slots.push([`${index}.body`, call.Http.body])
    return slots.flatMap(([slot, output]) =>
      'Sealed' in output ? [[slot, output.Sealed.key_id] as const] : [],
    )
  })
}

/** The state of one endpoint. `prior` is its stored state. Pure. */
export function endpointState(endpoint: EndpointOutput, prior: EndpointState | undefined): EndpointState {
  const { Http: http } = endpoint.call
  const before = prior?.http
  const noAssertions = endpoint.assertions.length === 0 && (prior?.assertions ?? null) === null
  return {
    url: endpoint.url,
    name: endpoint.name ?? null,
    http: {
      method: http.method,
      timeout: http.timeout === null ? null : keepSpelling(http.timeout, before?.timeout),
      max_redirects: http.max_redirects_to_follow ?? null,
      with_dns: http.with_dns ?? null,
      body: http.body == null ? null : valueState(http.body, before?.body),
      headers: headersState(http.headers ?? {}, before?.headers ?? null),
    },
    assertions: noAssertions
      ? null
      : endpoint.assertions.map((assertion, index) => assertionState(assertion, prior?.assertions?.[index])),
  }
}

function headersState(
  headers: Readonly<Record<string, SensitiveOutput>>,
  prior: HttpState['headers'],
): HttpState['headers'] {
  const entries = Object.entries(headers)
  if (entries.length === 0 && prior === null) return null
  const names = [...(prior?.keys() ?? [])]
  return new Map(
    entries.map(([name, output]) => {
      const spelled = spellingOf(name, names)
      return [spelled, valueState(output, prior?.get(spelled))]
    }),
  )
}

/** `name` in the spelling of `names`, ignoring case; unchanged when none matches. */
function spellingOf(name: string, names: readonly string[]): string {
  return names.find((candidate) => candidate.toLowerCase() === name.toLowerCase()) ?? name
}

function valueState(output: SensitiveOutput, prior: ValueState | null | undefined): ValueState {
  return {
    value: 'Plain' in output ? output.Plain : null,
    value_wo: null,
    // The version exists only in the configuration.
    value_wo_version: prior?.value_wo_version ?? null,
  }
}

/** Every name in `table` as a null attribute. */
function unset(table: Readonly<Record<string, string>>): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.values(table).map((name) => [name, null]))
}

const NO_KIND = unset(KINDS)

function assertionState(assertion: Assertion, prior: AssertionState | undefined): AssertionState {
  const parts = assertionParts(assertion)
  const name = KINDS[parts.kind]
  const { subjectField } = ASSERTION_LAYOUTS[parts.kind]
  const subject =
    subjectField === undefined ? {} : { [SUBJECTS[subjectField]]: subjectState(subjectField, parts.subject) }
  // True because the schema gives each kind its subject and the operators of its family.
  return { ...NO_KIND, [name]: { ...subject, ...operatorState(parts, prior?.[name]) } } as AssertionState
}

function subjectState(field: keyof typeof SUBJECTS, subject: string | undefined): string | null {
  switch (field) {
    case 'l_type':
      return attributeNameOf(PHASES, subject ?? '') ?? null
    case 'name':
      return subject ?? null
  }
}

function operatorState(
  { operators, operator }: AssertionOperator,
  prior: object | null | undefined,
): Readonly<Record<string, unknown>> {
  const table = OPERATORS[operators]
  switch (operators) {
    case 'integer':
    case 'text': {
      const [[theirs, operand] = ['', null]] = Object.entries(operator)
      return { ...unset(table), [attributeNameOf(table, theirs) ?? '']: operand }
    }
    case 'duration':
      // True because the stored value of this kind has the operators of its family.
      return { ...unset(table), ...durations(operator, prior as Partial<DurationState> | null | undefined) }
  }
}

type DurationState = NonNullable<AssertionState['dns_resolution']>

function durations(
  expected: DurationComparison,
  prior: Partial<DurationState> | null | undefined,
): Partial<DurationState> {
  if ('Between' in expected) {
    const between = expected.Between.map((bound, index) => keepSpelling(bound, prior?.between?.[index]))
    return { between }
  }
  if ('LessThan' in expected) return { lt: keepSpelling(expected.LessThan, prior?.lt) }
  return { lte: keepSpelling(expected.LessOrEqual, prior?.lte) }
}

/** `duration` as text, in the stored spelling if that is an equal duration. */
function keepSpelling(duration: Duration, prior: string | null | undefined): string {
  const before = prior == null ? undefined : parseDuration(prior)
  if (prior != null && before !== undefined && compareDurations(before, duration) === 0) return prior
  return formatDuration(duration)
}
