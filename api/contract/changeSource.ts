import { readableTextProblem } from './text.ts'

/** Request header in which a client says where a change comes from. Gap G48. */
export const SOURCE_HEADER = 'pharos-origin'

/** Longest header, and longest member of it (characters). */
const HEADER_CHARS_MAX = 8_192
const MEMBER_CHARS_MAX = 512

const MEMBERS = ['repository', 'commit', 'path'] as const

/** Where a change comes from, as its client says; `null` for what it does not say. */
export type ChangeSource = Readonly<Record<(typeof MEMBERS)[number], string | null>>

/** The source of a client that says nothing. */
export const UNKNOWN_SOURCE: ChangeSource = { repository: null, commit: null, path: null }

/**
 * `source` as the value of the header, in the form of an HTML form; `undefined` when nothing is known that it can carry.
 * What is too long or cannot be shown is left out: a change never fails for where it comes from. Pure.
 */
export function writeChangeSource(source: Partial<ChangeSource>): string | undefined {
  const members = MEMBERS.flatMap((name) => {
    const value = cleaned(name, source[name] ?? '')
    return memberProblem(value) === undefined ? [[name, value] as [string, string]] : []
  })
  const text = new URLSearchParams(members).toString()
  return text === '' || text.length > HEADER_CHARS_MAX ? undefined : text
}

/** What the header `text` says; members of other names are ignored. Throws an Error that says what is wrong. Pure. */
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

/** The URL of a repository may hold the token that it was cloned with: user, query and fragment are left out. */
function cleaned(name: (typeof MEMBERS)[number], value: string): string {
  if (name !== 'repository') return value
  return value.replace(/[?#].*$/su, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/iu, '$1')
}

function memberProblem(value: string): string | undefined {
  // U+FFFD stands for bytes that were no UTF-8.
  if (value.includes('\ufffd')) return 'must be UTF-8'
  return readableTextProblem(value, { charsMax: MEMBER_CHARS_MAX, lines: 'one line' })
}
