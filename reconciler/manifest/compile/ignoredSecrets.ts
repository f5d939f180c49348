import { formatPointer } from '../../../api/contract/problem.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { PathProblem } from './origin.ts'

/**
 * Problems of pointers in `policy.ignore` that cover a secret: ignored fields are sent with their current values, and the
 * API does not show secrets. Pure.
 */
export function ignoredSecretProblems(
  { policy }: ServiceManifest,
  request: ServiceRequest,
): readonly PathProblem[] {
  const secrets = secretPointers(request)
  return (policy?.ignore ?? []).flatMap((pointer, index): readonly PathProblem[] => {
    const prefix = `${pointer.toLowerCase()}/`
    if (!secrets.some((secret) => `${secret}/`.startsWith(prefix))) return []
    return [
      {
        path: ['policy', 'ignore', index],
        code: 'E_VALUE',
        message: 'covers a secret, which the API does not show: its current value cannot be kept',
        hint: 'list the fields beside the secret one by one',
      },
    ]
  })
}

function secretPointers({ endpoints }: ServiceRequest): readonly string[] {
  return endpoints.flatMap(({ call: { Http } }, index) => {
    const at = (...steps: string[]): string =>
      formatPointer(['spec', 'endpoints', index, ...steps]).toLowerCase()
    const headers = Object.entries(Http.headers ?? {})
    return [
      ...(Http.body?.sensitive === true ? [at('body')] : []),
      ...headers.flatMap(([name, { sensitive }]) => (sensitive === true ? [at('headers', name)] : [])),
    ]
  })
}
