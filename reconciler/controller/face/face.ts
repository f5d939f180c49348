import type { Face, FaceDeps } from '../faceSeam.ts'
import { type Route, type RouteAnswer, refusal } from '../http/route.ts'
import { type PageOptions, pageFor } from './pages.ts'

/** Paths of the pages, as the listener knows them. */
const PATHS = ['/', '/face.css', '/favicon.svg', '/status.json', '/sets/:set', '/badge/:file'] as const

/** What people see of a controller. */
export function mountFace({ status }: FaceDeps, options: PageOptions): Face {
  const routes = PATHS.map(
    (path): Route => ({
      method: 'GET',
      path,
      handle: ({ params, query }): RouteAnswer => {
        const target = path.replace(/:(\w+)/, (_whole, name: string) =>
          encodeURIComponent(params[name] ?? ''),
        )
        const answer = pageFor(`${target}?${query}`, status, options)
        if (answer === undefined) return refusal(404, 'there is no such set')
        const { 'Content-Type': type = '', ...headers } = answer.headers
        return { status: answer.status, type, headers, body: answer.body }
      },
    }),
  )
  return { routes, onEvent: () => {}, close: async () => {} }
}
