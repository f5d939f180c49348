import { type Html, html } from '../../../web/html.ts'
import { OLD_SECRET_MS, sealSecret } from '../../domain/notifications/channel.ts'
import { mintSecret } from '../../domain/notifications/signature.ts'
import { openValue } from '../../domain/seal.ts'
import { refusalOf } from '../forms/readForm.ts'
import type { RouteResponse, OrgRequest, Page } from '../routing/route.ts'
import { channelPage, channelRef } from './channel.ts'

/** POST /api/o/:org/channels/:id/rotate. */
export async function rotateSecret(request: OrgRequest): Promise<RouteResponse> {
  const { store, params, environment, findMasterKey, nowMs, root } = request
  const secret = mintSecret(environment)
  await store.rotateSecret(
    channelRef(request),
    ({ id: channelId, orgId }, masterKeyId) =>
      sealSecret(secret, { orgId, channelId, role: 'secret' }, findMasterKey(masterKeyId), environment),
    { nowMs, oldUntilMs: nowMs + OLD_SECRET_MS },
  )
  return secretPage('New signing secret', secret, `${root}/channels/${params.id}`, ROTATED)
}

/** POST /api/o/:org/channels/:id/show-secret. The audit log records it. Gap G35. */
export async function showSecret(request: OrgRequest): Promise<RouteResponse> {
  const { store, params, findMasterKey, nowMs, root } = request
  let secret = ''
  const refusal = await refusalOf([], async () => {
    const sealed = await store.showSecret(channelRef(request), nowMs)
    secret = openValue(sealed, findMasterKey(sealed.masterKeyId))
  })
  if (refusal !== undefined) return channelPage(request, refusal)
  return secretPage('Signing secret', secret, `${root}/channels/${params.id}`, SHOWN)
}

const SHOWN = html`<p>The audit log records that you have seen it.</p>`
const ROTATED = html`<p>The previous secret also signs for 24 hours: update the receiver within that time.</p>`

/** A page with a signing secret. Pure. */
export function secretPage(title: string, secret: string, next: string, more?: Html): Page {
  const body = html`<h1>${title}</h1>
<p class="notice">This page cannot be reloaded. The receiver uses the secret to verify each message.</p>
${more}
<div class="group"><p class="secret"><code id="secret">${secret}</code></p>
<p><button type="button" data-copy="secret" hidden>Copy</button></p></div>
<p><a class="button" href="${next}">Done</a></p>`
  return { kind: 'page', title, section: 'channels', body }
}
