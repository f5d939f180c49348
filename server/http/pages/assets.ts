import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hardenedHeaders } from './hardenedHeaders.ts'

/** A file that pages refer to. A versioned one never changes. */
interface Asset {
  readonly type: string
  readonly body: string
  readonly isVersioned: boolean
}

/** The icon of a page in browser tabs. */
const FAVICON: Asset = {
  type: 'image/svg+xml; charset=utf-8',
  body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2a6f97"/><path d="M5 17h6l3-8 5 15 3-7h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
  isVersioned: false,
}

/**
 * The files of pages below /assets/, by name. The names of style and script change with their content, because browsers
 * cache them for a year. Pure.
 */
export function pageAssets(style: string, script: string) {
  const version = (content: string) => createHash('sha256').update(content).digest('hex').slice(0, 12)
  const styleFile = `style-${version(style)}.css`
  const scriptFile = `page-${version(script)}.js`
  const files: ReadonlyMap<string, Asset> = new Map([
    [styleFile, { type: 'text/css; charset=utf-8', body: style, isVersioned: true }],
    [scriptFile, { type: 'text/javascript; charset=utf-8', body: script, isVersioned: true }],
    ['favicon.svg', FAVICON],
  ])
  return { styleFile, scriptFile, files }
}

/** Adds the files of pages to `app`; `refuse` responds to other names. */
export function serveAssets(
  app: FastifyInstance,
  files: ReadonlyMap<string, Asset>,
  isSecure: boolean,
  refuse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.get('/assets/:name', (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const asset = files.get(request.params.name)
    if (asset === undefined) return refuse(request, reply)
    const etag = weakTag(asset.body)
    reply.headers({
      ...hardenedHeaders(isSecure),
      ...{ 'content-type': asset.type, etag },
      'cache-control': `public, max-age=${asset.isVersioned ? '31536000, immutable' : '3600'}`,
    })
    const isFresh = isKnown(request.headers['if-none-match'], etag)
    return isFresh ? reply.code(304).send() : reply.send(asset.body)
  })
}

/** The weak entity tag of `body`: compressed forms have the same. Pure. */
export function weakTag(body: string | Uint8Array): string {
  return `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
}

/** Whether `header`, the value of If-None-Match, lists the version `etag`. Pure. */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header === etag || header.split(',').some((one) => one.trim() === '*' || weak(one.trim()) === etag)
}

function weak(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`
}
