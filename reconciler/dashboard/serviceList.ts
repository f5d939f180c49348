import { type Html, html } from '../../web/html.ts'
import { countText, REASON_LABELS, STATE_LABELS } from '../controller/status/labels.ts'
import type { ServiceStatus, SetStatus } from '../controller/status/status.ts'
import type { PlannedField } from '../plan/planValue.ts'
import { counted, shortened } from '../text/counts.ts'
import { fieldParts } from '../text/fieldText.ts'
import { FIELDS_MAX, MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import { fileUrl } from './forgeUrls.ts'
import { label } from './icons.ts'
import { tableOf } from './table.ts'

/** The source of the manifests of a set. */
type ManifestPlace = Pick<SetStatus, 'source' | 'commit'>

/** Services, each with its state, the reason, advice and differences. Pure. */
export function serviceList(services: readonly ServiceStatus[], set: ManifestPlace): Html {
  return html`<ul class="services">
${services.map((service) => html`<li>${serviceEntry(service, set)}</li>\n`)}</ul>`
}

function serviceEntry(service: ServiceStatus, set: ManifestPlace): Html {
  const { key, state, message, todo, fields, serviceId } = service
  return html`<p><bdi class="key">${shortened(key, NAME_CHARS_MAX)}</bdi> ${label(STATE_LABELS[state].tone, state)}
${serviceId !== null && html`<span class="quiet">service <span class="mono">${shortened(serviceId, NAME_CHARS_MAX)}</span></span>`}
${manifestLink(service, set)}</p>
${message !== '' && html`<p>${shortened(message, MESSAGE_CHARS_MAX)}</p>`}
${todo !== null && html`<p class="todo">${shortened(todo, MESSAGE_CHARS_MAX)}</p>`}
${fields.length > 0 && fieldDetails(key, fields)}`
}

function manifestLink({ manifest }: ServiceStatus, { source, commit }: ManifestPlace): Html | false {
  if (manifest === null) return false
  const text = shortened(manifest, NAME_CHARS_MAX)
  const url = commit === null ? null : fileUrl(source.repository, commit.sha, manifest)
  return html`<span class="quiet mono">${url === null ? html`<bdi>${text}</bdi>` : html`<a href="${url}" rel="noreferrer"><bdi>${text}</bdi></a>`}</span>`
}

function fieldDetails(key: string, fields: readonly PlannedField[]): Html {
  const left = fields.length - FIELDS_MAX
  return html`<details><summary>Differences in ${counted(fields.length, 'field')}</summary>
<div class="scroll">${tableOf({
    caption: html`Fields of <bdi>${shortened(key, NAME_CHARS_MAX)}</bdi>`,
    columns: ['Field', 'The service has', 'Git says', 'Why'],
    rows: fields.slice(0, FIELDS_MAX).map(fieldRow),
    isSmall: true,
  })}</div>
${left > 0 && html`<p class="quiet">${countText(left)} more: see status.json.</p>`}</details>`
}

function fieldRow(field: PlannedField): readonly Html[] {
  const parts = fieldParts(field)
  const values =
    'secret' in parts
      ? [html`(secret)`, html`(secret) ${parts.secret}`]
      : [value(parts.from), value(parts.to)]
  return [
    html`<code>${shortened(parts.path, NAME_CHARS_MAX)}</code>`,
    ...values,
    html`${REASON_LABELS[field.reason]}`,
  ]
}

function value(text: string): Html {
  return html`<code>${shortened(text, NAME_CHARS_MAX)}</code>`
}
