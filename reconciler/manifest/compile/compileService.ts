import { parseDuration } from '../../../api/contract/duration.ts'
import { problemsOf } from '../../../api/contract/problem.ts'
import {
  type EndpointInput,
  type SensitiveInput,
  type ServiceRequest,
  serviceRequestSchema,
} from '../../../api/contract/service.ts'
import type { ManifestPath } from '../read/position.ts'
import { compileAssertion } from '../schema/assertionForm.ts'
import type { ServiceManifest, ValueForm } from '../schema/serviceManifest.ts'
import type { ResolvedValue } from '../values/valueReference.ts'
import type { PathProblem } from './origin.ts'

/** Resolves a reference to its value, or to the reason why it cannot be resolved. */
export type ResolveForm = (form: ValueForm, part: 'header' | 'body') => ResolvedValue

/** Placeholder of a value that could not be resolved, which is reported as a problem. */
const NO_VALUE: SensitiveInput = { value: 'unresolved', sensitive: true }

type Endpoint = ServiceManifest['spec']['endpoints'][number]

/**
 * The API request of `manifest`, or its problems, including those that the schema of the contract finds. Pure if `resolve`
 * is.
 */
export function compileService(manifest: ServiceManifest, resolve: ResolveForm) {
  const problems: PathProblem[] = []
  const { spec } = manifest
  const request: ServiceRequest = {
    name: spec.name ?? manifest.metadata.name,
    interval_secs: durationOf(spec.interval).secs,
    regions: [...spec.regions],
    endpoints: spec.endpoints.map((endpoint, index) => {
      const value = (form: ValueForm, part: 'header' | 'body', path: ManifestPath): SensitiveInput => {
        const resolved = resolve(form, part)
        if ('input' in resolved) return resolved.input
        problems.push({ ...resolved, path: ['spec', 'endpoints', index, ...path] })
        return NO_VALUE
      }
      return compileEndpoint(endpoint, value)
    }),
  }
  // The API refuses an interval of zero as a plan limit, as if a larger plan allowed it (Gap G12).
  if (request.interval_secs === 0) {
    problems.push({ path: ['spec', 'interval'], code: 'E_VALUE', message: 'must be longer than zero' })
  }
  const checked = serviceRequestSchema.safeParse(request)
  if (!checked.success) {
    problems.push(
      ...problemsOf(checked.error).map(
        ({ path, message }): PathProblem => ({
          path: manifestPathOf(path, spec.name === undefined),
          code: 'E_VALUE',
          message,
        }),
      ),
    )
  }
  return problems.length === 0 ? { request, problems } : { problems }
}

type ValueFor = (form: ValueForm, part: 'header' | 'body', path: ManifestPath) => SensitiveInput

function compileEndpoint(endpoint: Endpoint, valueFor: ValueFor): EndpointInput {
  const headers = Object.entries(endpoint.headers ?? {})
  return {
    url: endpoint.url,
    ...(endpoint.name == null ? {} : { name: endpoint.name }),
    call: {
      Http: {
        method: endpoint.method ?? 'GET',
        timeout: endpoint.timeout == null ? null : durationOf(endpoint.timeout),
        ...(headers.length === 0
          ? {}
          : {
              headers: Object.fromEntries(
                headers.map(([name, form]) => [name, valueFor(form, 'header', ['headers', name])]),
              ),
            }),
        ...(endpoint.body == null ? {} : { body: valueFor(endpoint.body, 'body', ['body']) }),
        ...(endpoint.maxRedirects == null ? {} : { max_redirects_to_follow: endpoint.maxRedirects }),
        ...(endpoint.withDns == null ? {} : { with_dns: endpoint.withDns }),
      },
    },
    assertions: (endpoint.assertions ?? []).map(compileAssertion),
  }
}

/** The duration in `text`, which must have passed the schema. */
export function durationOf(text: string): { secs: number; nanos: number } {
  const duration = parseDuration(text)
  // The schema of manifests accepts only durations.
  if (duration === undefined) throw new Error('the schema accepted an invalid duration')
  return { ...duration }
}

const FIELD_OF_HTTP: Readonly<Record<string, string>> = {
  max_redirects_to_follow: 'maxRedirects',
  with_dns: 'withDns',
}

/** The path in a manifest of the value at `path` of the request; of a part of an assertion, the assertion. Pure. */
export function manifestPathOf(path: ManifestPath, nameIsKey: boolean): ManifestPath {
  const [field, index, part, ...rest] = path
  if (field === 'name') return nameIsKey ? ['metadata', 'name'] : ['spec', 'name']
  if (field === 'interval_secs') return ['spec', 'interval']
  if (field !== 'endpoints' || index === undefined) return ['spec', ...path]
  const endpoint: ManifestPath = ['spec', 'endpoints', index]
  if (part === undefined) return endpoint
  if (part === 'assertions') return [...endpoint, 'assertions', ...rest.slice(0, 1)]
  if (part !== 'call') return [...endpoint, part]
  const [, httpField, ...below] = rest
  if (httpField === undefined) return endpoint
  const named = FIELD_OF_HTTP[httpField] ?? httpField
  return [...endpoint, named, ...(named === 'headers' ? below.slice(0, 1) : [])]
}
