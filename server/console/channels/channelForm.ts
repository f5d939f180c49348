import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { channelUrlProblem } from '../../domain/notifications/channel.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from '../../domain/notifications/payload.ts'
import { type Faults, formText } from '../forms/readForm.ts'
import { type NamedService, namedServices, servicesField } from '../forms/services.ts'
import { faultText, textField } from '../frame/fields.ts'
import type { OrgRequest } from '../routing/route.ts'

/** Longest name of a channel (code points). Gap G35. */
const NAME_CHARS_MAX = 200
const EVENT_LABELS: Readonly<Record<ChannelEvent, string>> = {
  'incident.created': 'New incidents',
  'incident.updated': 'Incident updates',
  'certificate.expiring': 'Expiring certificates',
}

/** Initial values of the fields of a channel. */
export interface ChannelValues {
  readonly name: string
  readonly events: readonly string[]
  /** Empty for all services. */
  readonly serviceIds: readonly string[]
}

/** The submitted values, or `stored` for a new form. Pure. */
export function typedOr({ form }: Pick<OrgRequest, 'form'>, stored: ChannelValues): ChannelValues {
  if (!form.has('name')) return stored
  return { name: form.get('name') ?? '', events: form.getAll('events'), serviceIds: form.getAll('services') }
}

/** The name field. Pure. */
export function nameField({ name }: ChannelValues, faults: Faults): Html {
  return textField({ name: 'name', label: 'Name', value: name, fault: faults.name })
}

/** The fields for events and services. Pure. */
export function choiceFields(
  { events, serviceIds }: ChannelValues,
  services: readonly NamedService[],
  faults: Faults,
): Html {
  return html`<fieldset aria-describedby="h-events${faults.events !== undefined && html` e-events`}"><legend>Events</legend>
<p class="hint" id="h-events">Services without automatic incidents, which are off by default, only have those that people open.</p>
${CHANNEL_EVENTS.map(
  (event) =>
    html`<label class="choice"><input type="checkbox" name="events" value="${event}"${events.includes(event) && html` checked`}>${eventLabel(event)}</label>`,
)}
${faultText('events', faults.events)}</fieldset>
${servicesField({
  ...{ name: 'services', label: 'Services', hint: 'Choose none for all services.', services },
  ...{ chosen: serviceIds, fault: faults.services },
})}`
}

/** Name of an event. Pure. */
export function eventLabel(event: ChannelEvent): string {
  return EVENT_LABELS[event]
}

/** Submitted fields of a channel, with their faults. */
export interface ChannelInput {
  readonly name: string
  /** '' when the field was left empty. */
  readonly url: string
  readonly events: readonly ChannelEvent[]
  readonly serviceIds: readonly string[] | null
  readonly faults: Faults
}

/** Reads the fields. `kept` is the channel to change: its URL may stay, and so may its services. */
export async function readChannelForm(
  request: OrgRequest,
  kept?: { readonly serviceIds: readonly string[] | null },
): Promise<ChannelInput> {
  const { form } = request
  const name = formText(form, 'name')
  const url = formText(form, 'url')
  const events = CHANNEL_EVENTS.filter((event) => form.getAll('events').includes(event))
  const chosen = [...new Set(form.getAll('services'))]
  const allowed = new Set([
    ...(await namedServices(request)).map(({ id }) => id),
    ...(kept?.serviceIds ?? []),
  ])
  const nameProblem = readableTextProblem(name, { charsMax: NAME_CHARS_MAX, lines: 'one line' })
  const urlProblem = kept !== undefined && url === '' ? undefined : channelUrlProblem(url)
  const faults: Faults = {
    ...(nameProblem === undefined ? {} : { name: `The name ${nameProblem}` }),
    ...(urlProblem === undefined ? {} : { url: `The URL ${urlProblem}` }),
    ...(events.length === 0 ? { events: 'Choose at least one' } : {}),
    ...(chosen.every((one) => allowed.has(one)) ? {} : { services: 'A service no longer exists' }),
  }
  return { name, url, events, serviceIds: chosen.length === 0 ? null : chosen, faults }
}
