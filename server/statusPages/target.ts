import type { PageAddress } from '../store/statusPageStore.ts'
import { THEMES, type Theme } from './pages/frame.ts'

/** A resource of a page. */
export type Resource =
  | { readonly kind: 'current' }
  /** YYYY-MM; the current month when `undefined`. */
  | { readonly kind: 'history'; readonly month: string | undefined }
  | { readonly kind: 'incident'; readonly number: number }
  | { readonly kind: 'feed' }
  | { readonly kind: 'document' }
  /** Of the page when `componentId` is `undefined`. */
  | { readonly kind: 'badge'; readonly componentId: string | undefined }

/** A request for a resource of a page. */
export interface Target {
  readonly address: PageAddress
  /** Prefix of the paths of the page. */
  readonly root: string
  readonly resource: Resource
  readonly theme: Theme
  /** Cache key: equal only for requests with the same response. */
  readonly name: string
}

/** Host and URL of a request. */
export interface RequestAddress {
  /** Host header in lower case, without port; `undefined` on the shared origin. */
  readonly boundHost: string | undefined
  /** Path and query as in the request line, without an origin. */
  readonly url: string
}

/**
 * The host of a request, in lower case without port and final dot, and its path and query. A request line with an
 * origin, as proxies send it, overrides the Host header (RFC 9112, 3.2.2). Pure.
 */
export function placeOf(
  hostHeader: string | undefined,
  requestTarget: string,
): { readonly host: string; readonly url: string } {
  const [origin = '', authority = hostHeader ?? ''] = /^https?:\/\/([^/?#]*)/i.exec(requestTarget) ?? []
  const host = authority.toLowerCase().replace(/\.?(:\d*)?$/, '')
  return { host, url: requestTarget.slice(origin.length) }
}

/** The target of a request; `undefined` when no page has such a URL. Pure. */
export function targetOf({ boundHost, url }: RequestAddress): Target | undefined {
  const [path = '', query = ''] = url.split('?', 2)
  const [, slug, below = ''] = /^\/s\/([a-z0-9-]{3,63})(\/.*)?$/.exec(path) ?? []
  const address: PageAddress | undefined =
    boundHost !== undefined
      ? { kind: 'host', host: boundHost }
      : slug === undefined
        ? undefined
        : { kind: 'slug', slug }
  if (address === undefined) return undefined
  const params = new URLSearchParams(query)
  const resource = resourceOf(boundHost === undefined ? below : path, params)
  if (resource === undefined) return undefined
  const root = boundHost === undefined ? `/s/${slug}` : ''
  const theme = hasTheme(resource) ? (THEMES.find((one) => one === params.get('theme')) ?? 'auto') : 'auto'
  const name = JSON.stringify([address, theme, resource])
  return { address, root, resource, theme, name }
}

function hasTheme({ kind }: Resource): boolean {
  return kind !== 'feed' && kind !== 'document'
}

function resourceOf(path: string, params: URLSearchParams): Resource | undefined {
  switch (path) {
    case '':
    case '/':
      return { kind: 'current' }
    case '/history':
      return { kind: 'history', month: params.get('month') ?? undefined }
    case '/feed.atom':
      return { kind: 'feed' }
    case '/status.json':
      return { kind: 'document' }
    case '/badge.svg':
      return { kind: 'badge', componentId: undefined }
  }
  const [, number] = /^\/incidents\/INC-([1-9]\d{0,14})$/.exec(path) ?? []
  if (number !== undefined) return { kind: 'incident', number: Number(number) }
  const [, componentId] = /^\/badge\/([0-9a-f-]{36})\.svg$/.exec(path) ?? []
  return componentId === undefined ? undefined : { kind: 'badge', componentId }
}
