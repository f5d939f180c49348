import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type AnswerKind, type AnswerSources, makeAnswer } from './makeAnswer.ts'
import type { Target } from './target.ts'
import type { PageView, PageViews } from './view/pageViews.ts'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Kept answers with their compressed forms (bytes), the least recently used of which go first. */
const KEPT_BYTES_MAX = 64 * 1_024 * 1_024
/** A page is compressed within a few milliseconds, on another thread. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

/** The forms in which an answer is sent. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** An answer that is kept until it changes. */
export interface KeptAnswer {
  readonly kind: AnswerKind
  /** Stands for the bytes: another one means other bytes. */
  readonly etag: string
  /** The body in each form that was asked for. */
  readonly bodies: Map<Encoding, Buffer>
}

interface Entry {
  readonly answer: KeptAnswer
  /** The view that it was made of. */
  view: PageView
}

/** Answers by target: made when they are asked for and their view is a newer one, and kept with their compressed forms. */
export class KeptAnswers {
  readonly #sources: AnswerSources
  readonly #views: PageViews
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #making = new Map<string, Promise<KeptAnswer | undefined>>()
  readonly #bytesMax: number
  #bytes = 0

  /** Keeps at most `bytesMax` bytes. */
  constructor(sources: AnswerSources, views: PageViews, bytesMax = KEPT_BYTES_MAX) {
    this.#sources = sources
    this.#views = views
    this.#bytesMax = bytesMax
  }

  /** The answer to `target` in `encoding`, if it is current and kept. */
  current(target: Target, encoding: Encoding): KeptAnswer | undefined {
    const entry = this.#entries.get(target.name)
    if (entry === undefined || entry.view !== this.#views.current(target.address)) return undefined
    return entry.answer.bodies.has(encoding) ? entry.answer : undefined
  }

  /** The current answer to `target`, with its body in `encoding`; `undefined` when there is none. */
  async get(target: Target, encoding: Encoding): Promise<KeptAnswer | undefined> {
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

  async #get(target: Target, encoding: Encoding): Promise<KeptAnswer | undefined> {
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

  async #answerOf(target: Target, view: PageView): Promise<KeptAnswer | undefined> {
    const { name } = target
    const before = this.#entries.get(name)
    if (before?.view === view) {
      // Now the most recently used one.
      this.#entries.delete(name)
      this.#entries.set(name, before)
      return before.answer
    }
    const made = await makeAnswer(this.#sources, target, view)
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
    const answer: KeptAnswer = { kind: made.kind, etag, bodies: new Map([['identity', body]]) }
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

/** The best form that `header`, the value of Accept-Encoding, allows. Pure. */
export function encodingOf(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const allowed = header.split(',').flatMap((part) => {
    const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    return params.some((param) => /^q=0(\.0*)?$/.test(param)) ? [] : [name]
  })
  return ENCODINGS.find((encoding) => allowed.includes(encoding)) ?? 'identity'
}
