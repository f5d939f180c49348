import { incidentOperations } from './incidentOperations.ts'
import type { Operation } from './operation.ts'
import { orgOperations } from './orgOperations.ts'
import { serviceOperations } from './serviceOperations.ts'

/** The thirteen operations. Contract: Endpoints. */
export const OPERATIONS: readonly Operation[] = [
  ...orgOperations,
  ...serviceOperations,
  ...incidentOperations,
]

const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))].map((path) => ({
  form: new RegExp(`^${path.replace(':id', '[^/]+')}$`),
  methods: OPERATIONS.filter((operation) => operation.path === path).flatMap(({ method }) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  ),
}))

/** The methods of a known `path`, as the header Allow lists them; `undefined` when the path is unknown. Pure. */
export function allowedMethods(path: string): string | undefined {
  return PATHS.find(({ form }) => form.test(path))?.methods.join(', ')
}

/** Whether `path`, in the spelling of the request line, is under the API. Contract: Versioning, rule 1. Pure. */
export function isUnderApi(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/')
}

/** The path in a request line. RFC 9112 also permits a whole URL, of which only the path counts. Pure. */
export function pathOf(url = ''): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? ''
}
