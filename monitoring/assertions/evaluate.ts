import type { CompiledAssertion } from './compileAssertions.ts'
import { durationText } from './durationComparison.ts'
import type { Observation } from './observation.ts'
import { HIDDEN, type Quoting, quotedHeader, quotedText } from './quotedText.ts'
import type { Regex, TextMatcher } from './textMatcher.ts'

/**
 * The verdict on one assertion. Its texts are created when first read, which most texts of a passing check never are.
 */
export interface Verdict extends VerdictTexts {
  readonly kind: CompiledAssertion['kind']
  /** `unknown` when the matcher was ended before it had a result. */
  readonly result: 'pass' | 'fail' | 'unknown'
}

interface VerdictTexts {
  /** The expected value, for people: `200–299`, `to contain "ok"`. */
  readonly expected: string
  /** The observed value, for people; null when there was none. Never the text of a body. */
  readonly seen: string | null
  /** The whole verdict as a sentence: `status 503, expected 200–299`. */
  readonly text: string
}

/** A class, because defining getters on an object for each verdict would be a fifth of the CPU time of a check. */
class LazyVerdict implements Verdict {
  readonly kind: Verdict['kind']
  readonly result: Verdict['result']
  readonly #makeTexts: () => VerdictTexts
  #texts: VerdictTexts | undefined

  constructor(kind: Verdict['kind'], result: Verdict['result'], makeTexts: () => VerdictTexts) {
    this.kind = kind
    this.result = result
    this.#makeTexts = makeTexts
  }

  get expected() {
    return this.#made.expected
  }

  get seen() {
    return this.#made.seen
  }

  get text() {
    return this.#made.text
  }

  get #made(): VerdictTexts {
    this.#texts ??= this.#makeTexts()
    return this.#texts
  }
}

/** Whether `regex` matches in `text`; `undefined` when there is no result, because it would take too long. */
export type FindRegex = (regex: Regex, text: string) => Promise<boolean | undefined>

/** The inputs of an evaluation other than the response. */
export interface EvaluationTools {
  readonly quoting: Quoting
  readonly find: FindRegex
}

/** The verdict on each of `assertions`, in order; a failure does not end the evaluation. Gap G57. */
export async function evaluateAssertions(
  assertions: readonly CompiledAssertion[],
  observation: Observation,
  tools: EvaluationTools,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const assertion of assertions) verdicts.push(await evaluate(assertion, observation, tools))
  return verdicts
}

/** The verdict on each of `assertions`, in order, when there was no response: all fail. Pure. */
export function verdictsWithoutResponse(
  assertions: readonly CompiledAssertion[],
  quoting: Quoting,
): readonly Verdict[] {
  return assertions.map((assertion) => unseen(assertion, quoting))
}

async function evaluate(
  assertion: CompiledAssertion,
  observation: Observation,
  tools: EvaluationTools,
): Promise<Verdict> {
  switch (assertion.kind) {
    case 'StatusCode':
      return measured(assertion, observation.status, String)
    case 'Latency':
      return timed(assertion, observation.latencyUs[assertion.type], tools.quoting)
    case 'DnsResoltion':
      return timed(assertion, observation.dnsUs, tools.quoting)
    case 'Header':
      return headerVerdict(assertion, observation, tools)
    case 'Body':
      return bodyVerdict(assertion, observation, tools)
  }
}

type MeasuredAssertion = Extract<CompiledAssertion, { readonly expected: unknown }>

function measured(assertion: MeasuredAssertion, value: number, seenText: (value: number) => string): Verdict {
  const { kind, expected } = assertion
  const result = expected.holds(value) ? 'pass' : 'fail'
  return new LazyVerdict(kind, result, () => {
    const seen = seenText(value)
    const text = sentence(`${subject(assertion)} ${seen}`, result, expected.text)
    return { expected: expected.text, seen, text }
  })
}

/** The verdict on a measured time. A phase that was not reached makes the assertion false. */
function timed(assertion: MeasuredAssertion, us: number | undefined, quoting: Quoting): Verdict {
  return us === undefined ? unseen(assertion, quoting) : measured(assertion, us, durationText)
}

type TextAssertion = Extract<CompiledAssertion, { readonly matcher: unknown }>

async function headerVerdict(
  assertion: TextAssertion & { readonly kind: 'Header' },
  { headers }: Observation,
  { quoting, find }: EvaluationTools,
): Promise<Verdict> {
  const { name, matcher } = assertion
  const values = headers.flatMap(([one, value]) => (one.toLowerCase() === name ? [value] : []))
  // Cookies cannot be joined, so each is judged separately, and one match is enough.
  const texts = values.length === 0 || name === 'set-cookie' ? values : [values.join(', ')]
  const result = await anyMatches(matcher, texts, find)
  return new LazyVerdict('Header', result, () => {
    const expected = expectedText(assertion, quoting)
    const seen = values.length === 0 ? null : quotedHeader(name, values.join(', '), quoting)
    const what = `header ${name} ${seen === null ? 'is absent' : `is ${seen}`}`
    return { expected, seen, text: sentence(what, result, expected) }
  })
}

async function bodyVerdict(
  assertion: TextAssertion & { readonly kind: 'Body' },
  { body }: Observation,
  { quoting, find }: EvaluationTools,
): Promise<Verdict> {
  if (body === undefined) return unseen(assertion, quoting)
  const { matcher } = assertion
  const result = await anyMatches(matcher, [body.text], find)
  // Taken out here, so that the texts that are created later do not keep the text of the body in memory.
  const { bytes, mediaType } = body
  return new LazyVerdict('Body', result, () => {
    const expected = expectedText(assertion, quoting)
    const size = `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`
    const seen = mediaType === '' ? size : `${size}, ${quoting.isPrivate(mediaType) ? HIDDEN : mediaType}`
    const what = `body (${seen})`
    const text =
      matcher === undefined || result === 'unknown'
        ? sentence(what, result, expected)
        : `${what} ${result === 'pass' ? matcher.words.holds : matcher.words.fails} ${operandText(matcher, quoting)}`
    return { expected, seen, text }
  })
}

function unseen(assertion: CompiledAssertion, quoting: Quoting): Verdict {
  return new LazyVerdict(assertion.kind, 'fail', () => {
    const expected = expectedText(assertion, quoting)
    return { expected, seen: null, text: `${nothingSeen(assertion)}, expected ${expected}` }
  })
}

function sentence(what: string, result: Verdict['result'], expected: string): string {
  if (result === 'pass') return `${what} (expected ${expected})`
  if (result === 'fail') return `${what}, expected ${expected}`
  return `${what}; the regular expression took too long, expected ${expected}`
}

/** Whether one of `texts` matches; `unknown` when a match took too long, or for a pattern that the API refuses. */
async function anyMatches(
  matcher: TextMatcher | undefined,
  texts: readonly string[],
  find: FindRegex,
): Promise<Verdict['result']> {
  if (matcher === undefined) return 'unknown'
  let result: Verdict['result'] = 'fail'
  for (const text of texts) {
    const matches = matcher.kind === 'plain' ? matcher.matches(text) : await find(matcher.regex, text)
    if (matches === true) return 'pass'
    if (matches === undefined) result = 'unknown'
  }
  return result
}

const LATENCY_SUBJECTS = {
  HeadersLatency: 'headers after',
  BodyLatency: 'body within',
  TotalLatency: 'response after',
} as const

/** The subject of a measured assertion, which precedes the observed value. */
function subject(assertion: MeasuredAssertion): string {
  switch (assertion.kind) {
    case 'StatusCode':
      return 'status'
    case 'Latency':
      return LATENCY_SUBJECTS[assertion.type]
    case 'DnsResoltion':
      return 'name resolved in'
  }
}

/** The part of the response whose absence makes `assertion` false. */
function nothingSeen(assertion: CompiledAssertion): string {
  switch (assertion.kind) {
    case 'StatusCode':
      return 'no status'
    case 'Latency':
      return assertion.type === 'HeadersLatency' ? 'no headers' : 'no complete body'
    case 'DnsResoltion':
      return 'name not resolved'
    case 'Header':
      return `no header ${assertion.name}`
    case 'Body':
      return 'no body'
  }
}

function expectedText(assertion: CompiledAssertion, quoting: Quoting): string {
  if ('expected' in assertion) return assertion.expected.text
  const { matcher } = assertion
  if (matcher === undefined) return 'a regular expression that the API accepts'
  return `${matcher.words.infinitive} ${operandText(matcher, quoting)}`
}

function operandText({ kind, operand }: TextMatcher, quoting: Quoting): string {
  const quoted = quotedText(operand, quoting)
  return kind === 'regex' && quoted.startsWith('"') ? `/${quoted.slice(1, -1)}/` : quoted
}
