import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Asset } from './asset.ts'
import { assetHeaders } from './hardenedHeaders.ts'

/** Sends `asset`, or 304 when the browser has it. */
export function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    asset,
    isVersioned,
    isSecure,
  }: { readonly asset: Asset; readonly isVersioned: boolean; readonly isSecure: boolean },
): FastifyReply {
  const etag = `W/"${createHash('sha256').update(asset.body).digest('base64url').slice(0, 22)}"`
  reply.headers(assetHeaders({ type: asset.type, isVersioned, isSecure })).header('etag', etag)
  const isFresh = isKnown(request.headers['if-none-match'], etag)
  return isFresh ? reply.code(304).send() : reply.send(asset.body)
}

/** Whether `header`, the value of If-None-Match, lists the version `etag`. Pure. */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header === etag || header.split(',').some((one) => one.trim() === '*' || weak(one.trim()) === etag)
}

function weak(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`
}
