import { formatPointer } from '../../../api/contract/problem.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { CompileProblem } from './compileService.ts'

/**
 * Pointers of `policy.ignore` that reach a secret: what is ignored is sent as the service has it, and the API
 * does not show a secret. Pure.
 */
export function ignoredSecretProblems(
  { policy }: ServiceManifest,
  request: ServiceRequest,
): readonly CompileProblem[] {
  const secrets = secretPointers(request)
  return (policy?.ignore ?? []).flatMap((pointer, index): readonly CompileProblem[] => {
    const prefix = `${pointer.toLowerCase()}/`
    if (!secrets.some((secret) => `${secret}/`.startsWith(prefix))) return []
    return [
      {
        path: ['policy', 'ignore', index],
        code: 'E_VALUE',
        message: 'reaches a secret, which the API does not show: it cannot be left as it is',
        hint: 'name the fields beside the secret one by one',
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
