import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { type Management, managementOf } from '../../domain/changeOrigin.ts'
import { asking } from '../frame/fields.ts'
import type { OrgRequest } from '../routing/route.ts'
import type { ServiceRow } from './serviceRows.ts'

/** Field that confirms a change of a service that code manages. */
export const CONFIRMED = 'confirmed'

/** The management of a service. */
export async function managementOfService(
  { store }: Pick<OrgRequest, 'store'>,
  serviceId: string,
): Promise<Management> {
  return managementOf((await store.generationsOf(serviceId)).map(({ origin }) => origin))
}

/** Whether code manages a service: its next run reverts changes made here, except pauses that it leaves open. Pure. */
export function isManaged({ manager }: Pick<Management, 'manager'>): boolean {
  return manager === 'Terraform' || manager === 'GitOps'
}

/** A notice about the tool that manages a service. */
export async function managedNotice(request: OrgRequest, serviceId: string): Promise<Html | false> {
  const management = await managementOfService(request, serviceId)
  const { manager, origin, differsSince } = management
  if (origin === null || manager === 'Unknown') return false
  const version = origin.toolVersion === null ? '' : ` ${origin.toolVersion}`
  return html`<p class="${differsSince === null ? 'quiet' : 'notice'}">Managed by ${manager}${origin.tool !== null && ` (${origin.tool}${version})`}, last change ${instant(origin.at)}${origin.repository !== null && html`, <bdi>${origin.repository}</bdi>`}${origin.path !== null && html` <code>${origin.path}</code>`}.${differsSince !== null && html` Changed in the console since ${instant(differsSince)}${isManaged(management) && ': the next apply reverts that'}.`}</p>`
}

/** A checkbox to confirm a change of a service that code manages. Pure. */
export function confirmBox(management: Management): Html | false {
  return (
    isManaged(management) &&
    html`<label class="choice"><input type="checkbox" name="${CONFIRMED}" value="yes" required>Change it although the next ${management.manager} run may revert that</label>`
  )
}

/** Buttons to pause, resume, edit and delete. */
export async function actionForms(request: OrgRequest, { service }: ServiceRow): Promise<Html | false> {
  if (!request.may('operate')) return false
  const { actions, root } = request
  const management = await managementOfService(request, service.id)
  const verb = service.paused_at == null ? 'pause' : 'resume'
  const button = (action: string, label: string, question?: string): Html =>
    html`<button formaction="${actions}/services/${service.id}/${action}"${question !== undefined && asking(question)}>${label}</button>`
  return html`<form method="post" action="${actions}/services/${service.id}/${verb}">${confirmBox(management)}
<p class="row">${button(verb, verb === 'pause' ? 'Pause' : 'Resume')}<a class="button" href="${root}/services/${service.id}/edit">Edit</a>${button('delete', 'Delete', `Delete ${service.name}? Its results are removed with it.`)}</p></form>`
}
