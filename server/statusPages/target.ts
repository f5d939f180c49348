import type { PageAddress } from '../store/statusPageStore.ts'
import { THEMES, type Theme } from './pages/frame.ts'

/** What is asked for of a page. */
export type Resource =
  | { readonly kind: 'current' }
  /** YYYY-MM; the present month when `undefined`. */
  | { readonly kind: 'history'; readonly month: string | undefined }
  | { readonly kind: 'incident'; readonly number: number }
  | { readonly kind: 'feed' }
  | { readonly kind: 'document' }
  /** Of the page when `componentId` is `undefined`. */
  | { readonly kind: 'badge'; readonly componentId: string | undefined }

/** A request for something of a page. */
export interface Target {
  readonly address: PageAddress
  /** What paths of the page begin with. */
  readonly root: string
  readonly resource: Resource
  readonly theme: Theme
  /** The same only for requests that have the same answer. */
  readonly name: string
}

/** Where a request came from, and what it asks for. */
export interface AskedFor {
  /** The name in the header Host, lower case, without its port; `undefined` where pages have no hosts of their own. */
  readonly boundHost: string | undefined
  /** Path and query as in the request line, without an origin. */
  readonly url: string
}

/**
 * The host that a request is for, lower case and without its port and final dot, and its path and query. A request line
 * with an origin, as proxies send it, overrules the header Host (RFC 9112, 3.2.2). Pure.
 */
export function placeOf(
  hostHeader: string | undefined,
  requestTarget: string,
): { readonly host: string; readonly url: string } {
  const [origin = '', authority = hostHeader ?? ''] = /^https?:\/\/([^/?#]*)/i.exec(requestTarget) ?? []
  const host = authority.toLowerCase().replace(/\.?(:\d*)?$/, '')
  return { host, url: requestTarget.slice(origin.length) }
}

/** What a request asks for; `undefined` when no page has such an address. Pure. */
export function targetOf({ boundHost, url }: AskedFor): Target | undefined {
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
