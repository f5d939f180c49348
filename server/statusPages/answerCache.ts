import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type AnswerKind, type AnswerSources, renderAnswer } from './renderAnswer.ts'
import type { Target } from './target.ts'
import type { PageView, PageViews } from './view/pageViews.ts'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Largest total size of cached answers with their compressed forms (bytes). */
const KEPT_BYTES_MAX = 64 * 1_024 * 1_024
/** Compresses a page within a few milliseconds, on another thread. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

/** Content encodings of answers. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A cached answer. */
export interface CachedAnswer {
  readonly kind: AnswerKind
  /** Changes with the body. */
  readonly etag: string
  /** The body in each requested encoding. */
  readonly bodies: Map<Encoding, Buffer>
}

interface Entry {
  readonly answer: CachedAnswer
  /** The view from which it was rendered. */
  view: PageView
}

/** Answers by target, rendered on demand when their view has changed, and cached with their compressed forms. */
export class AnswerCache {
  readonly #sources: AnswerSources
  readonly #views: PageViews
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #making = new Map<string, Promise<CachedAnswer | undefined>>()
  readonly #bytesMax: number
  #bytes = 0

  /** Caches at most `bytesMax` bytes. */
  constructor(sources: AnswerSources, views: PageViews, bytesMax = KEPT_BYTES_MAX) {
    this.#sources = sources
    this.#views = views
    this.#bytesMax = bytesMax
  }

  /** The cached answer to `target` in `encoding`, if it is current. */
  current(target: Target, encoding: Encoding): CachedAnswer | undefined {
    const entry = this.#entries.get(target.name)
    if (entry === undefined || entry.view !== this.#views.current(target.address)) return undefined
    return entry.answer.bodies.has(encoding) ? entry.answer : undefined
  }

  /** The current answer to `target`, with its body in `encoding`; `undefined` when there is none. */
  async get(target: Target, encoding: Encoding): Promise<CachedAnswer | undefined> {
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

  async #get(target: Target, encoding: Encoding): Promise<CachedAnswer | undefined> {
    const view = await this.#views.read(target.address)
    if (view === undefined) {
      this.#forget(target.name)
      return undefined
    }
    const answer = await this.#answerOf(target, view)
    if (answer === undefined) return undefined
    const plain = answer.bodies.get('identity')
    if (plain !== undefined && !answer.bodies.has(encoding)) {
      const body = await compressed(plain, encoding)
      if (!answer.bodies.has(encoding) && this.#entries.get(target.name)?.answer === answer) {
        this.#bytes += body.length
      }
      answer.bodies.set(encoding, body)
    }
    this.#shrink()
    return answer
  }

  async #answerOf(target: Target, view: PageView): Promise<CachedAnswer | undefined> {
    const { name } = target
    const before = this.#entries.get(name)
    if (before?.view === view) {
      // Marks it as most recently used.
      this.#entries.delete(name)
      this.#entries.set(name, before)
      return before.answer
    }
    const made = await renderAnswer(this.#sources, target, view)
    if (made === undefined) {
      this.#forget(name)
      return undefined
    }
    const body = Buffer.from(made.body)
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    const same = this.#entries.get(name)
    if (same?.answer.etag === etag) {
      same.view = view
      return same.answer
    }
    this.#forget(name)
    const answer: CachedAnswer = { kind: made.kind, etag, bodies: new Map([['identity', body]]) }
    this.#entries.set(name, { answer, view })
    this.#bytes += body.length
    return answer
  }

  #forget(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    for (const body of entry.answer.bodies.values()) this.#bytes -= body.length
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
