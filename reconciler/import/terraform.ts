import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  headersOf,
  type ImportedEndpoint,
  type ImportedService,
  type ImportedValue,
  intervalOf,
  type ReadServices,
  urlOf,
  type VariableOf,
} from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const INTERVAL_S = 60
const TYPE = 'pharos_service'

/**
 * The services of `terraform show -json`, of a plan or of a state: one for each `pharos_service`. Write-only values are in
 * neither, so each becomes a reference to an environment variable, as does each value that is sensitive.
 */
export const fromTerraform: ReadServices = (documents, variable) => {
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

function serviceOf(resource: SourceValue, variable: VariableOf): ImportedService | undefined {
  const values = resource.get('values')
  const address = resource.get('address').text() ?? TYPE
  const name = values.get('name').text()
  if (name === undefined)
    return resource.note(`${address} is left out: its name is known only after the apply`)
  const marks = resource.get('sensitive_values')
  if (isSensitive(markOf(marks, 'name')))
    return resource.note(`${address} is left out: its name is sensitive`)
  const given = values.get('endpoints').items()
  const endpoints = given.flatMap((endpoint, index) => {
    const place = given.length === 1 ? name : `${name}_${index + 1}`
    return endpointOf({ endpoint, marks: markOf(markOf(marks, 'endpoints'), index), place }, variable) ?? []
  })
  if (endpoints.length === 0)
    return resource.note(`${address} is left out: the URLs of its endpoints are known only after the apply`)
  return {
    name,
    intervalS: intervalOf(values.get('interval'), INTERVAL_S),
    isPaused: values.get('paused').flag() === true,
    labels: {},
    regions: values.get('regions').texts(),
    endpoints,
    place: resource,
  }
}

/** The mark of a part in `sensitive_values`; a whole that is sensitive has one mark. */
function markOf(marks: SourceValue, key: string | number): SourceValue {
  return marks.flag() === true ? marks : marks.get(String(key))
}

/** Whether a value or a part of it comes from a sensitive variable. */
function isSensitive(mark: SourceValue): boolean {
  const parts = [...mark.items(), ...mark.entries().map(([, part]) => part)]
  return mark.flag() === true || parts.some(isSensitive)
}

/** An endpoint, its part of `sensitive_values`, and its name in variables. */
interface GivenEndpoint {
  readonly endpoint: SourceValue
  readonly marks: SourceValue
  readonly place: string
}

function endpointOf(
  { endpoint, marks, place }: GivenEndpoint,
  variable: VariableOf,
): ImportedEndpoint | undefined {
  if (isSensitive(markOf(marks, 'url')))
    return endpoint.get('url').note('the endpoint is left out: its URL is sensitive')
  const url = urlOf('the endpoint', endpoint.get('url'))
  if (url === undefined) return undefined
  const http = endpoint.get('http')
  const httpMarks = markOf(marks, 'http')
  const isClear = (value: SourceValue, mark: SourceValue) =>
    value.get('value').isThere && !isSensitive(markOf(mark, 'value'))
  const body = http.get('body')
  const given = http
    .get('headers')
    .entries()
    .map(([name, header]) => {
      return { name, header, isClear: isClear(header, markOf(markOf(httpMarks, 'headers'), name)) }
    })
  const clear = given.filter((one) => one.isClear)
  const secret = given.filter((one) => !one.isClear)
  return {
    url,
    name: endpoint.get('name').text(),
    method: http.get('method').text() === 'POST' ? 'POST' : undefined,
    timeout: http.get('timeout').text(),
    maxRedirects: http.get('max_redirects').number(),
    withDns: http.get('with_dns').flag(),
    headers: {
      ...headersOf(
        clear.map(({ name, header }) => [name, header.get('value')]),
        place,
        variable,
      ),
      ...Object.fromEntries(
        secret.map(({ name, header }) => [name, secretOf(header, `${place}_${name}`, variable)]),
      ),
    },
    body: !body.isThere
      ? undefined
      : isClear(body, markOf(httpMarks, 'body'))
        ? body.get('value').text()
        : secretOf(body, `${place}_body`, variable),
    assertions: endpoint
      .get('assertions')
      .items()
      .flatMap((assertion, index) => {
        if (!isSensitive(markOf(markOf(marks, 'assertions'), index))) return assertionOf(assertion)
        assertion.note('left out: the assertion has a sensitive value')
        return []
      }),
  }
}

/** A write-only value, which Terraform keeps nowhere, or one of a sensitive variable. */
function secretOf(value: SourceValue, place: string, variable: VariableOf): ImportedValue {
  const env = variable(place)
  const reason = value.get('value').isThere
    ? 'the sensitive value is not copied'
    : 'a plan does not contain the secret'
  value.note(`${reason}: set the environment variable ${env}`)
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
