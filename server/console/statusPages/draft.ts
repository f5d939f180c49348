import { readableTextProblem } from '../../../api/contract/text.ts'
import {
  COMPONENT_TEXT_CHARS_MAX,
  INCIDENTS_SHOWN,
  type IncidentsShown,
  PAGE_TEXT_CHARS_MAX,
  PAGE_TITLE_CHARS_MAX,
  PUBLIC_NAME_CHARS_MAX,
  type StatusPage,
  slugProblem,
  type WantedSection,
} from '../../domain/statusPages/definition.ts'
import { type Faults, formText } from '../forms/readForm.ts'

/** A line of the editor: the heading of a section, or a component. */
export type DraftLine =
  | { readonly kind: 'section'; readonly name: string }
  | {
      readonly kind: 'component'
      readonly serviceId: string
      readonly name: string
      readonly text: string
      readonly showsUptime: boolean
    }

/** A status page in the editor. */
export interface Draft {
  readonly slug: string
  readonly title: string
  readonly text: string
  readonly isPublic: boolean
  readonly incidentsShown: IncidentsShown
  readonly lines: readonly DraftLine[]
}

/** Maximum number of lines of a form. */
const LINES_MAX = 500

/** A new page. */
export const NEW_DRAFT: Draft = {
  ...{ slug: '', title: '', text: '', isPublic: true, incidentsShown: 'people', lines: [] },
}

/** The draft of a stored page. Pure. */
export function draftOf({ slug, title, text, isPublic, incidentsShown, sections }: StatusPage): Draft {
  const lines = sections.flatMap(({ name, components }): readonly DraftLine[] => [
    ...(name === '' ? [] : [{ kind: 'section', name } as const]),
    ...components.map((component) => {
      const { serviceId, name: publicName, text: line, showsUptime } = component
      return { kind: 'component', serviceId, name: publicName, text: line, showsUptime } as const
    }),
  ])
  return { slug, title, text, isPublic, incidentsShown, lines }
}

/** The draft of a submitted form. Pure. */
export function readDraft(form: URLSearchParams): Draft {
  const lines: DraftLine[] = []
  for (let index = 0; index < LINES_MAX && form.has(`kind-${index}`); index += 1) {
    const text = (name: string): string => formText(form, `${name}-${index}`)
    if (text('kind') === 'section') lines.push({ kind: 'section', name: text('name') })
    else {
      const showsUptime = text('uptime') === 'yes'
      const [serviceId, name, line] = [text('service'), text('name'), text('text')]
      lines.push({ kind: 'component', serviceId, name, text: line, showsUptime })
    }
  }
  return {
    slug: formText(form, 'slug'),
    title: formText(form, 'title'),
    text: formText(form, 'text'),
    isPublic: form.get('public') === 'yes',
    incidentsShown: INCIDENTS_SHOWN.find((one) => one === form.get('incidents')) ?? 'people',
    lines,
  }
}

/**
 * `draft` after pressing a button: `up:3`, `down:3`, `remove:3`, `section`, or `service`, which adds `addedService`;
 * `undefined` for another button. Pure.
 */
export function afterButton(
  draft: Draft,
  pressed: string,
  addedService: { readonly id: string; readonly name: string } | undefined,
): Draft | undefined {
  const lines = [...draft.lines]
  const [verb, place = ''] = pressed.split(':')
  const index = Number(place)
  switch (verb) {
    case 'up':
    case 'down': {
      const other = verb === 'up' ? index - 1 : index + 1
      const [line, neighbour] = [lines[index], lines[other]]
      if (line !== undefined && neighbour !== undefined)
        lines.splice(Math.min(index, other), 2, ...(verb === 'up' ? [line, neighbour] : [neighbour, line]))
      return { ...draft, lines }
    }
    case 'remove':
      return { ...draft, lines: lines.filter((_, at) => at !== index) }
    case 'section':
      return { ...draft, lines: [...lines, { kind: 'section', name: '' }] }
    case 'service': {
      if (addedService === undefined) return draft
      const { id: serviceId, name } = addedService
      const added = { kind: 'component', serviceId, name, text: '', showsUptime: true } as const
      return { ...draft, lines: [...lines, added] }
    }
    default:
      return undefined
  }
}

/** The index of the line in `after` that pressing a button added, moved or put in place of a removed one. Pure. */
export function changedLine({ lines }: Draft, pressed: string): number | undefined {
  const [verb, place = ''] = pressed.split(':')
  const last = lines.length - 1
  const index = { up: Number(place) - 1, down: Number(place) + 1, remove: Number(place) }[verb ?? ''] ?? last
  return last < 0 ? undefined : Math.min(Math.max(index, 0), last)
}

/** Faults of a draft by field. Pure. */
export function draftFaults({ slug, title, text, lines }: Draft): Faults {
  const faults: Record<string, string> = {}
  const slugFault = slugProblem(slug)
  if (slugFault !== undefined) faults.slug = `The slug ${slugFault}`
  const check = (field: string, value: string, charsMax: number, mayBeEmpty: boolean): void => {
    if (mayBeEmpty && value === '') return
    const lineCount = field === 'text' ? 'many lines' : 'one line'
    const problem = readableTextProblem(value, { charsMax, lines: lineCount })
    if (problem !== undefined) faults[field] = problem
  }
  check('title', title, PAGE_TITLE_CHARS_MAX, false)
  check('text', text, PAGE_TEXT_CHARS_MAX, true)
  for (const [index, line] of lines.entries()) {
    check(`name-${index}`, line.name, PUBLIC_NAME_CHARS_MAX, false)
    if (line.kind === 'component') check(`text-${index}`, line.text, COMPONENT_TEXT_CHARS_MAX, true)
  }
  if (lines.every(({ kind }) => kind === 'section')) faults[''] = 'Add at least one service'
  return faults
}

/** The sections of a draft; components before the first heading form a section without a name. Pure. */
export function sectionsOf({ lines }: Draft): readonly WantedSection[] {
  const sections: { name: string; components: WantedSection['components'][number][] }[] = []
  for (const line of lines) {
    if (line.kind === 'section') sections.push({ name: line.name, components: [] })
    else {
      if (sections.length === 0) sections.push({ name: '', components: [] })
      const { serviceId, name, text, showsUptime } = line
      sections.at(-1)?.components.push({ serviceId, name, text, showsUptime })
    }
  }
  return sections
}
