import { counted } from '../../render/planText.ts'
import type { ControllerStatus, PendingApproval, ProblemStatus, SetStatus } from '../status.ts'
import { LINES_MAX, MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import { type Html, html } from './html.ts'
import { tableOf } from './table.ts'
import { moment } from './time.ts'
import { countText, shortened } from './words.ts'

/** Changes that wait for a person, each lot with what lets it through. Pure. */
export function approvals({ approvals: waiting }: SetStatus, publicUrl: string | null): Html | false {
  return (
    waiting.length > 0 &&
    html`<h3>Waiting for an approval</h3>
${waiting.slice(0, LINES_MAX).map((one) => approval(one, publicUrl))}`
  )
}

function approval({ digest, brakes, changes }: PendingApproval, publicUrl: string | null): Html {
  const address = `${publicUrl?.replace(/\/+$/, '') ?? '$PHAROS_CONTROLLER'}/api/approve/${digest}`
  return html`${brakes.slice(0, LINES_MAX).map(({ brake, message }) => html`<p><strong>${brake}</strong>: ${shortened(message, MESSAGE_CHARS_MAX)}</p>`)}
${
  changes.length > 0 &&
  html`<details><summary>What waits: ${counted(changes.length, 'change')}</summary><ul class="lines">
${changes.slice(0, LINES_MAX).map((change) => html`<li><bdi>${shortened(change, NAME_CHARS_MAX)}</bdi></li>`)}</ul>
${more(changes.length)}</details>`
}
<p>The digest of these changes is <code>${digest}</code>. To approve them, as they are now and no others:</p>
<pre tabindex="0"><code>curl -fsS -X POST -H "Authorization: Bearer $CONTROLLER_TOKEN" -d '{"actor": "'"$USER"'"}' "${address}"</code></pre>
<p>or push a commit whose message ends with <code>Pharos-Approve: ${digest}</code></p>`
}

/** Who stopped what, why, and until when. Pure. */
export function suspensions({ suspensions: all }: SetStatus, at: string): Html | false {
  return (
    all.length > 0 &&
    html`<h3>Suspended</h3><ul class="lines">
${all.slice(0, LINES_MAX).map(({ scope, reason, actor, since, until }) => html`<li>${scope === '*' ? 'The whole set' : html`<bdi>${shortened(scope, NAME_CHARS_MAX)}</bdi>`}, since ${moment(since, at)} by <bdi>${shortened(actor, NAME_CHARS_MAX)}</bdi>: <bdi>${shortened(reason, MESSAGE_CHARS_MAX)}</bdi>. ${until === null ? 'It lasts until somebody resumes.' : html`It ends ${moment(until, at)}.`}</li>`)}</ul>
${more(all.length)}`
  )
}

/** Manifests that cannot be used, with the place and what to do. Pure. */
export function problems({ problems: all }: SetStatus): Html | false {
  return (
    all.length > 0 &&
    html`<h3>Manifests that cannot be used</h3>
<div class="scroll">${tableOf({
      caption: `${counted(all.length, 'problem')}; the services of these manifests are left alone`,
      columns: ['Where', 'What is wrong', 'What to do'],
      rows: all.slice(0, LINES_MAX).map(problemRow),
    })}</div>
${more(all.length)}`
  )
}

function problemRow({ file, line, column, code, message, hint }: ProblemStatus): readonly Html[] {
  return [
    html`<bdi class="mono">${shortened(file, NAME_CHARS_MAX)}:${line}:${column}</bdi>`,
    html`${shortened(message, MESSAGE_CHARS_MAX)} <span class="quiet">${code}</span>`,
    hint === null ? html`correct the manifest` : html`${shortened(hint, MESSAGE_CHARS_MAX)}`,
  ]
}

function more(count: number): Html | false {
  return (
    count > LINES_MAX && html`<p class="quiet">${countText(count - LINES_MAX)} more: see status.json.</p>`
  )
}

/** Everything that stands beside the services of a set and wants to be read first. Pure. */
export function waitingFor(
  set: SetStatus,
  { at }: Pick<ControllerStatus, 'at'>,
  publicUrl: string | null,
): Html {
  return html`${approvals(set, publicUrl)}${suspensions(set, at)}${problems(set)}`
}
