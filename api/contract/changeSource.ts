import { readableTextProblem } from './text.ts'

/** Request header with the source of a change. Gap G48. */
export const SOURCE_HEADER = 'pharos-origin'

/** Longest header, and longest member of it (characters). */
const HEADER_CHARS_MAX = 8_192
const MEMBER_CHARS_MAX = 512

const MEMBERS = ['repository', 'commit', 'path'] as const

/** The source of a change, as given by its client; `null` for missing parts. */
export type ChangeSource = Readonly<Record<(typeof MEMBERS)[number], string | null>>

/** The source of a client that gives none. */
export const UNKNOWN_SOURCE: ChangeSource = { repository: null, commit: null, path: null }

/**
 * `source` as a header value, in the form of an HTML form; `undefined` when there is nothing to send. Parts that are
 * too long or not printable are omitted: a change never fails because of its source. Pure.
 */
export function writeChangeSource(source: Partial<ChangeSource>): string | undefined {
  const members = MEMBERS.flatMap((name) => {
    const value = cleaned(name, source[name] ?? '')
    return memberProblem(value) === undefined ? [[name, value] as [string, string]] : []
  })
  const text = new URLSearchParams(members).toString()
  return text === '' || text.length > HEADER_CHARS_MAX ? undefined : text
}

/** Parses the header `text`; unknown members are ignored. Throws an Error with the problem. Pure. */
export function readChangeSource(text: string): ChangeSource {
  if (text.length > HEADER_CHARS_MAX || !/^[\x21-\x7e]*$/.test(text)) {
    throw new Error(`must be at most ${HEADER_CHARS_MAX} visible ASCII characters`)
  }
  const sent = new URLSearchParams(text)
  const members = MEMBERS.map((name) => {
    const values = sent.getAll(name)
    if (values.length > 1) throw new Error(`must name ${name} once`)
    const [value] = values
    if (value === undefined) return [name, null]
    const clean = cleaned(name, value)
    const problem = memberProblem(clean)
    if (problem !== undefined) throw new Error(`${name} ${problem}`)
    return [name, clean]
  })
  return { ...UNKNOWN_SOURCE, ...Object.fromEntries(members) }
}

/** The URL of a repository may contain the token it was cloned with: user, query and fragment are removed. */
function cleaned(name: (typeof MEMBERS)[number], value: string): string {
  if (name !== 'repository') return value
  return value.replace(/[?#].*$/su, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/iu, '$1')
}

function memberProblem(value: string): string | undefined {
  // U+FFFD replaces bytes that are not UTF-8.
  if (value.includes('\ufffd')) return 'must be UTF-8'
  return readableTextProblem(value, { charsMax: MEMBER_CHARS_MAX, lines: 'one line' })
}
