import * as z from 'zod'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

// For every schema of a program: the library's own texts are for programmers.
z.config({ customError: issueText })

/** One problem of a value: its path, as keys and indexes from the root, and a message, without any value. */
export interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Keys that are shown as sent: the contract's fields, and names of headers. */
const SHOWN_KEY = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/**
 * `endpoints[0].call.Http.timeout`; empty for the root. A key that cannot be a name, and may be a
 * misplaced value, is shown as `…` (Gap G11). Pure.
 */
export function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const key = SHOWN_KEY.test(step) ? step : '…'
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/** `/endpoints/0/call/Http/timeout`, escaped as RFC 6901 says; empty for the root. Pure. */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The steps that lead to what `pointer` names, unescaped. Pure. */
export function pointerSteps(pointer: string): readonly string[] {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The value at `pointer` in `value`, through own fields only; `undefined` when there is none. Pure. */
export function valueAtPointer(value: unknown, pointer: string): unknown {
  return pointerSteps(pointer).reduce<unknown>((parent, step) => {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, step)) return undefined
    return Reflect.get(parent, step)
  }, value)
}

/**
 * All problems in `error`, in the order of the schema, as paths and messages that never quote the value: it may be a
 * secret (Gap G11). Never empty. Pure.
 */
export function problemsOf(error: z.core.$ZodError): readonly Problem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, []))
}

function problemsOfIssue(issue: Issue, base: readonly (string | number)[]): readonly Problem[] {
  const path = [...base, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
  if (issue.code === 'invalid_union') {
    // Every other option of a tagged object reports the key of this value as unknown.
    const fitting = issue.errors.filter((issues) => !issues.some(complainsOfTheKey))
    const only = fitting.length === 1 ? fitting[0] : undefined
    if (only !== undefined) return only.flatMap((nested) => problemsOfIssue(nested, path))
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a known field' }))
  }
  return [{ path, message: issue.message }]
}

function complainsOfTheKey(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'unrecognized_keys' || issue.code === 'invalid_type')
}

/**
 * Path of the first field of `input` that `parsed`, the same value after a schema that ignores unknown
 * fields, no longer has; `undefined` when nothing was ignored. Pure.
 */
export function firstIgnoredField(input: unknown, parsed: unknown): readonly (string | number)[] | undefined {
  if (Array.isArray(input) && Array.isArray(parsed)) {
    for (const [index, element] of input.entries()) {
      const ignored = firstIgnoredField(element, parsed[index])
      if (ignored !== undefined) return [index, ...ignored]
    }
    return undefined
  }
  if (!isObject(input) || !isObject(parsed)) return undefined
  for (const [key, value] of Object.entries(input)) {
    if (!Object.hasOwn(parsed, key)) return [key]
    const ignored = firstIgnoredField(value, parsed[key])
    if (ignored !== undefined) return [key, ...ignored]
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** How types are named that a schema expects. */
const EXPECTED: Readonly<Record<string, string>> = {
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** How formats of texts are named. */
const FORMATS: Readonly<Record<string, string>> = {
  guid: 'a UUID',
  datetime: 'an instant such as 2026-01-31T12:00:00Z',
}

/**
 * What is wrong with a value, for schemas without a text of their own: what is expected, and which type was given. Never
 * the value, which may be a secret (Gap G11). Pure.
 */
function issueText(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = EXPECTED[issue.expected] ?? `a ${issue.expected}`
      return `must be ${expected}${givenInstead(issue.input, issue.expected)}`
    }
    case 'too_small':
      return sizeText(issue, Number(issue.minimum), issue.inclusive === false ? 'greater than' : 'at least')
    case 'too_big':
      return sizeText(issue, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most')
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? formText(issue)}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
    default:
      return 'has none of the allowed forms'
  }
}

function formText({ format, pattern }: Extract<RawIssue, { readonly code: 'invalid_format' }>): string {
  return format === 'regex' ? `a text that matches ${pattern}` : `a text in the format ${format}`
}

/** The type of `input` where it is another than the expected one; nothing for a missing value. */
function givenInstead(input: unknown, expected: string): string {
  if (input === undefined) return ''
  if (input === null) return ', not null'
  if (Array.isArray(input)) return ', not an array'
  const type = typeof input
  // A number with a fraction, where a whole one is expected, or one that is not finite.
  if (type === 'number' && (expected === 'int' || expected === 'number')) return ''
  return `, not ${type === 'object' ? 'an object' : `a ${type}`}`
}

/** What the number, or the length of the text or array, must be. */
function sizeText(
  { origin, exact }: Extract<RawIssue, { readonly code: 'too_small' | 'too_big' }>,
  limit: number,
  bound: string,
): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' ? 'item' : undefined
  const how = exact === true ? 'exactly' : bound
  if (unit === undefined) return `must be ${how} ${limit}`
  if (limit === 1 && how === 'at least') return 'must not be empty'
  return `must have ${how} ${limit} ${unit}${limit === 1 ? '' : 's'}`
}
