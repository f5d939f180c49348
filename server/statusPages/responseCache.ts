import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { weakTag } from '../http/pages/assets.ts'
import { type ResponseKind, type ResponseSources, renderResponse } from './renderResponse.ts'
import type { Target } from './target.ts'
import type { PageView, PageViews } from './view/pageViews.ts'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Maximum total size of cached responses with their compressed forms (bytes). */
const KEPT_BYTES_MAX = 64 * 1_024 * 1_024
/** Compresses a page within a few milliseconds, on another thread. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

/** Content encodings of responses. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A cached response. */
export interface CachedResponse {
  readonly kind: ResponseKind
  /** Changes with the body. */
  readonly etag: string
  /** The body in each requested encoding. */
  readonly bodies: Map<Encoding, Buffer>
}

interface Entry {
  readonly response: CachedResponse
  /** The view from which it was rendered. */
  view: PageView
}

/** Responses by target, rendered on demand when their view has changed, and cached with their compressed forms. */
export class ResponseCache {
  readonly #sources: ResponseSources
  readonly #views: PageViews
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #making = new Map<string, Promise<CachedResponse | undefined>>()
  readonly #bytesMax: number
  #bytes = 0

  /** Caches at most `bytesMax` bytes. */
  constructor(sources: ResponseSources, views: PageViews, bytesMax = KEPT_BYTES_MAX) {
    this.#sources = sources
    this.#views = views
    this.#bytesMax = bytesMax
  }

  /** The cached response to `target` in `encoding`, if it is current. */
  current(target: Target, encoding: Encoding): CachedResponse | undefined {
    const entry = this.#entries.get(target.name)
    if (entry === undefined || entry.view !== this.#views.current(target.address)) return undefined
    return entry.response.bodies.has(encoding) ? entry.response : undefined
  }

  /** The current response to `target`, with its body in `encoding`; `undefined` when there is none. */
  async get(target: Target, encoding: Encoding): Promise<CachedResponse | undefined> {
    const name = `${encoding} ${target.name}`
    const known = this.#making.get(name)
    if (known !== undefined) return known
    const making = this.#get(target, encoding)
    this.#making.set(name, making)
    try {
      return await making
    } finally {
      this.#making.delete(name)
    }
  }

  async #get(target: Target, encoding: Encoding): Promise<CachedResponse | undefined> {
    const view = await this.#views.read(target.address)
    if (view === undefined) {
      this.#forget(target.name)
      return undefined
    }
    const response = await this.#responseOf(target, view)
    if (response === undefined) return undefined
    const plain = response.bodies.get('identity')
    if (plain !== undefined && !response.bodies.has(encoding)) {
      const body = await compressed(plain, encoding)
      if (!response.bodies.has(encoding) && this.#entries.get(target.name)?.response === response) {
        this.#bytes += body.length
      }
      response.bodies.set(encoding, body)
    }
    this.#shrink()
    return response
  }

  async #responseOf(target: Target, view: PageView): Promise<CachedResponse | undefined> {
    const { name } = target
    const before = this.#entries.get(name)
    if (before?.view === view) {
      // Marks it as most recently used.
      this.#entries.delete(name)
      this.#entries.set(name, before)
      return before.response
    }
    const made = await renderResponse(this.#sources, target, view)
    if (made === undefined) {
      this.#forget(name)
      return undefined
    }
    const body = Buffer.from(made.body)
    const etag = weakTag(body)
    const same = this.#entries.get(name)
    if (same?.response.etag === etag) {
      same.view = view
      return same.response
    }
    this.#forget(name)
    const response: CachedResponse = { kind: made.kind, etag, bodies: new Map([['identity', body]]) }
    this.#entries.set(name, { response, view })
    this.#bytes += body.length
    return response
  }

  #forget(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    for (const body of entry.response.bodies.values()) this.#bytes -= body.length
  }

  #shrink(): void {
    for (const name of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#forget(name)
    }
  }
}

async function compressed(body: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case 'br':
      return brotli(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })
    case 'gzip':
      return gzipped(body, { level: GZIP_LEVEL })
    case 'identity':
      return body
  }
}

/** The best encoding that the Accept-Encoding `header` allows. Pure. */
export function encodingOf(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const allowed = header.split(',').flatMap((part) => {
    const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    return params.some((param) => /^q=0(\.0*)?$/.test(param)) ? [] : [name]
  })
  return ENCODINGS.find((encoding) => allowed.includes(encoding)) ?? 'identity'
}
