import { type Html, html } from '../../../web/html.ts'
import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { Faults } from '../forms/readForm.ts'
import type { NamedService } from '../forms/services.ts'
import { problemNotice, selectField, textArea, textField } from '../frame/fields.ts'
import type { Draft, DraftLine } from './draft.ts'

/** State of the editor. */
export interface EditorState {
  readonly draft: Draft
  /** The stored page; absent for a new one. */
  readonly page?: StatusPage
  readonly services: readonly NamedService[]
  readonly faults: Faults
  /** Index of the line that a button has just changed, which gets the focus; absent for none. */
  readonly changed?: number | undefined
  /** Action of the form. */
  readonly action: string
  /** Target of "Cancel". */
  readonly back: string
}

const INCIDENT_CHOICES = [
  ['people', 'By people and the API'],
  ['all', 'Also automatic ones'],
  ['none', 'None'],
] as const

/** The form of a status page. Each button sends the complete form, so that no input is lost. Pure. */
export function editorForm({ draft, page, services, faults, changed, action, back }: EditorState): Html {
  const { slug, title, text, isPublic, incidentsShown, lines } = draft
  const listed = new Set(lines.flatMap((line) => (line.kind === 'component' ? [line.serviceId] : [])))
  const free = services.filter(({ id }) => !listed.has(id))
  const nameOf = new Map(services.map(({ id, name }) => [id, name]))
  return html`${problemNotice(faults[''])}
<form method="post" action="${action}">
<button class="unseen" name="do" value="save" tabindex="-1" aria-hidden="true">Save</button>
${page !== undefined && html`<input type="hidden" name="generation" value="${page.generation}">`}
<section class="group" aria-labelledby="page"><h2 id="page">Page</h2>
${textField({ name: 'title', label: 'Title', value: title, fault: faults.title, isRequired: false })}
${textField({ name: 'slug', label: 'Slug', hint: 'Last part of its URL: /s/slug', value: slug, fault: faults.slug, isRequired: false })}
${textArea({ name: 'text', label: 'Introduction', value: text, fault: faults.text })}
<label class="choice"><input type="checkbox" name="public" value="yes"${isPublic && html` checked`}>Public</label>
${selectField({ name: 'incidents', label: 'Incidents shown', value: incidentsShown, options: INCIDENT_CHOICES })}</section>
<section class="group" aria-labelledby="components"><h2 id="components">Sections and components</h2>
${lines.length === 0 && html`<p>Nothing yet: add a service.</p>`}
${lines.map((line, index) => lineFields(line, { index, count: lines.length, isChanged: index === changed, nameOf, faults }))}
<div class="filters">${free.length > 0 && selectField({ name: 'added', label: 'Service', options: free.map(({ id, name }) => [id, name] as const) })}
<p class="field row">${free.length > 0 && html`<button name="do" value="service">Add service</button>`}<button name="do" value="section">Add section</button></p></div></section>
<p class="row"><button class="main" name="do" value="save">Save</button><a class="button" href="${back}">Cancel</a></p></form>`
}

interface LineContext {
  readonly index: number
  readonly count: number
  readonly isChanged: boolean
  readonly nameOf: ReadonlyMap<string, string>
  readonly faults: Faults
}

function lineFields(line: DraftLine, { index, count, isChanged, nameOf, faults }: LineContext): Html {
  const what = line.name === '' ? `line ${index + 1}` : line.name
  const button = (verb: string, word: string): Html =>
    html`<button name="do" value="${verb}:${index}">${word}<span class="unseen"> ${what}</span></button>`
  const moves = html`<p class="row">${index > 0 && button('up', 'Up')}${index < count - 1 && button('down', 'Down')}${button('remove', 'Remove')}</p>`
  const legend =
    line.kind === 'section' ? 'Section' : `Component: ${nameOf.get(line.serviceId) ?? 'a deleted service'}`
  return html`<fieldset${isChanged && html` tabindex="-1" data-focus`}><legend>${legend}</legend><input type="hidden" name="kind-${index}" value="${line.kind}">
${textField({ name: `name-${index}`, label: line.kind === 'section' ? 'Name' : 'Public name', value: line.name, fault: faults[`name-${index}`], isRequired: false })}
${
  line.kind === 'component' &&
  html`<input type="hidden" name="service-${index}" value="${line.serviceId}">
${textField({ name: `text-${index}`, label: 'Description', value: line.text, fault: faults[`text-${index}`], isRequired: false })}
<label class="choice"><input type="checkbox" name="uptime-${index}" value="yes"${line.showsUptime && html` checked`}>Show days and uptime</label>`
}${moves}</fieldset>`
}
