import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  headersOf,
  type ImportedEndpoint,
  type ImportedService,
  type ImportedValue,
  intervalOf,
  urlOf,
} from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const INTERVAL_S = 60
const TYPE = 'pharos_service'

/**
 * The services of `terraform show -json`, of a plan or of a state: one for each `pharos_service`. Secrets are in neither,
 * so each becomes a reference to an environment variable.
 */
export function fromTerraform(
  documents: readonly SourceValue[],
  variable: (place: string) => string,
): readonly ImportedService[] {
  return documents.flatMap((document) => {
    const planned = document.get('planned_values')
    const root = (planned.isThere ? planned : document.get('values')).get('root_module')
    return resourcesOf(root).flatMap((resource) => serviceOf(resource, variable) ?? [])
  })
}

/** The services of a module and of those that it calls. */
function resourcesOf(module: SourceValue): readonly SourceValue[] {
  return [
    ...module
      .get('resources')
      .items()
      .filter((one) => one.get('type').text() === TYPE && one.get('mode').text() === 'managed'),
    ...module.get('child_modules').items().flatMap(resourcesOf),
  ]
}

function serviceOf(resource: SourceValue, variable: (place: string) => string): ImportedService | undefined {
  const values = resource.get('values')
  const address = resource.get('address').text() ?? TYPE
  const name = values.get('name').text()
  if (name === undefined) {
    resource.note(`${address} is left out: its name is known only after the apply`)
    return undefined
  }
  const given = values.get('endpoints').items()
  const endpoints = given.flatMap(
    (endpoint, index) =>
      endpointOf(endpoint, given.length === 1 ? name : `${name}_${index + 1}`, variable) ?? [],
  )
  if (endpoints.length === 0) {
    resource.note(`${address} is left out: no address of its endpoints is known before the apply`)
    return undefined
  }
  const regions = values.get('regions').items()
  return {
    name,
    intervalS: intervalOf(values.get('interval'), INTERVAL_S),
    isPaused: values.get('paused').flag() === true,
    labels: {},
    regions: regions.flatMap((region) => region.text() ?? []),
    endpoints,
    place: resource,
  }
}

function endpointOf(
  endpoint: SourceValue,
  place: string,
  variable: (place: string) => string,
): ImportedEndpoint | undefined {
  const url = urlOf(endpoint.get('url'))
  if (url === undefined) return undefined
  const http = endpoint.get('http')
  const body = http.get('body')
  const clear = http
    .get('headers')
    .entries()
    .map(([name, header]) => [name, header.get('value')] as const)
  const secret = http
    .get('headers')
    .entries()
    .filter(([, header]) => !header.get('value').isThere)
    .map(([name, header]) => [name, secretOf(header, `${place}_${name}`, variable)] as const)
  return {
    url,
    name: endpoint.get('name').text(),
    method: http.get('method').text() === 'POST' ? 'POST' : undefined,
    timeout: http.get('timeout').text(),
    maxRedirects: http.get('max_redirects').number(),
    withDns: http.get('with_dns').flag(),
    headers: {
      ...headersOf(
        clear.filter(([, value]) => value.isThere),
        place,
        variable,
      ),
      ...Object.fromEntries(secret),
    },
    body: !body.isThere ? undefined : (body.get('value').text() ?? secretOf(body, `${place}_body`, variable)),
    assertions: endpoint.get('assertions').items().flatMap(assertionOf),
  }
}

/** A write-only value, which Terraform keeps nowhere. */
function secretOf(value: SourceValue, place: string, variable: (place: string) => string): ImportedValue {
  const env = variable(place)
  value.note(`the secret is in no plan: set the environment variable ${env}`)
  return { env }
}

/** Kinds and operators that a manifest names differently. */
const FORMS: Readonly<Record<string, string>> = { status_code: 'status', dns_resolution: 'dns' }
const OPERATORS: Readonly<Record<string, string>> = { ne: 'not', one_of: 'oneOf' }
const MATCHERS: Readonly<Record<string, string>> = {
  ...{ eq: 'equals', contains: 'contains', starts_with: 'startsWith', ends_with: 'endsWith', regex: 'regex' },
}

function assertionOf(assertion: SourceValue): readonly AssertionForm[] {
  const form = formOf(assertion)
  // Its fields are those of a manifest, which the schema of manifests reads afterwards.
  if (form !== undefined) return [form as AssertionForm]
  assertion.note('left out: the assertion is known only after the apply')
  return []
}

function formOf(assertion: SourceValue): object | undefined {
  const [kind, given] = assertion.entries().find(([, value]) => value.isThere) ?? []
  if (kind === undefined || given === undefined) return undefined
  const [operator, value] =
    given.entries().find(([key, one]) => key !== 'phase' && key !== 'name' && one.isThere) ?? []
  if (operator === undefined || value === undefined) return undefined
  return { [FORMS[kind] ?? kind]: operandOf(given, operator, value) }
}

/** The family of the operator follows from its name and its value, so that a new kind needs nothing here. */
function operandOf(given: SourceValue, operator: string, value: SourceValue): object | string {
  const numbers = value.items().flatMap((one) => one.number() ?? [])
  const number = value.number() ?? (numbers.length > 0 ? numbers : undefined)
  if (number !== undefined) return { [OPERATORS[operator] ?? operator]: number }
  const matcher = MATCHERS[operator]
  const name = given.get('name').text()
  if (matcher !== undefined) return { ...(name === undefined ? {} : { name }), [matcher]: value.text() }
  const comparison = comparisonOf(operator, value)
  const phase = given.get('phase').text()
  return phase === undefined ? comparison : { [phase]: comparison }
}

function comparisonOf(operator: string, value: SourceValue): string {
  const [shortest, longest] = value.items().map((one) => one.text() ?? '')
  if (operator === 'between') return `${shortest}..${longest}`
  return `${operator === 'lte' ? '<=' : '<'} ${value.text() ?? ''}`
}
