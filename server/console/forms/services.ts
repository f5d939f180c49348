import { type Html, html } from '../../../web/html.ts'
import { faultText, INVALID } from '../frame/fields.ts'
import type { Store } from '../../store/store.ts'
import type { OrgRequest } from '../routing/route.ts'

/** A service to choose from. */
export interface NamedService {
  readonly id: string
  readonly name: string
}

/** The services of an organisation, ordered by name. */
export async function namedServices({
  index,
  org,
}: Pick<OrgRequest, 'index' | 'org'>): Promise<readonly NamedService[]> {
  return (await index.readServices(org.id)).services
}

/** The services with these ids, in this order; a deleted one is named after its id. */
export function servicesOf(
  store: Store,
  orgId: string,
  ids: readonly string[],
): Promise<readonly NamedService[]> {
  return Promise.all(
    ids.map(async (id) => {
      const service = await store.getService(orgId, id)
      return service === undefined ? { id, name: `deleted service ${id.slice(0, 8)}` } : named(service.text)
    }),
  )
}

function named(text: string): NamedService {
  // True because the text is a response of the API.
  const { id, name } = JSON.parse(text) as NamedService
  return { id, name }
}

/** A field for several services. Pure. */
export function servicesField(field: {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly services: readonly NamedService[]
  readonly chosen: readonly string[]
  readonly fault?: string | undefined
}): Html {
  const { name, label, hint = 'Select several with Ctrl or Shift.', services, chosen, fault } = field
  const described = fault === undefined ? `h-${name}` : `e-${name} h-${name}`
  return html`<div class="field"><label for="f-${name}">${label}</label>
<p class="hint" id="h-${name}">${hint}</p>
<select id="f-${name}" name="${name}" multiple size="${Math.min(8, Math.max(3, services.length))}" aria-describedby="${described}"${
    fault !== undefined && INVALID
  }>${services.map(
    ({ id, name: text }) =>
      html`<option value="${id}"${chosen.includes(id) && html` selected`}>${text}</option>`,
  )}</select>
${faultText(name, fault)}</div>`
}

/** Links to services. Pure. */
export function serviceLinks(services: readonly NamedService[], root: string): Html {
  return html`${services.map(
    ({ id, name }, index) =>
      html`${index > 0 && ', '}<a href="${root}/services/${id}"><bdi>${name}</bdi></a>`,
  )}`
}
