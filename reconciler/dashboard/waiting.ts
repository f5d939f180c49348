import { type Html, html } from '../../web/html.ts'
import { countText } from '../controller/status/labels.ts'
import type {
  ControllerStatus,
  PendingApproval,
  ProblemStatus,
  SetStatus,
} from '../controller/status/status.ts'
import { counted, shortened } from '../text/counts.ts'
import { LINES_MAX, MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import { acceptHistoryButton, approveButton } from './buttons.ts'
import { tableOf } from './table.ts'
import { timeElement } from './time.ts'

/** How users act on a set: with buttons on its page, or with commands to copy; null for neither. */
type Means = { readonly setPage: string } | { readonly apiUrl: string | null }

/** Changes that wait for approval, each group with the way to approve it. Pure. */
function approvals({ approvals: waiting }: SetStatus, means: Means): Html | false {
  return (
    waiting.length > 0 &&
    html`<h3>Waiting for an approval</h3>
${waiting.slice(0, LINES_MAX).map((one) => approval(one, means))}`
  )
}

function approval(pending: PendingApproval, means: Means): Html {
  const { digest, brakes, changes } = pending
  return html`${brakes.slice(0, LINES_MAX).map(({ brake, message }) => html`<p><strong>${brake}</strong>: ${shortened(message, MESSAGE_CHARS_MAX)}</p>`)}
${
  changes.length > 0 &&
  html`<details><summary>Blocked: ${counted(changes.length, 'change')}</summary><ul class="lines">
${changes.slice(0, LINES_MAX).map((change) => html`<li><bdi>${shortened(change, NAME_CHARS_MAX)}</bdi></li>`)}</ul>
${more(changes.length)}</details>`
}
<p>The digest of these changes is <code>${digest}</code>. ${'setPage' in means ? html`An approval covers exactly these changes.` : 'To approve exactly these changes, push a commit whose message ends with this line:'}</p>
${
  'setPage' in means
    ? approveButton(pending, means.setPage)
    : html`<pre tabindex="0"><code>Pharos-Approve: ${digest}</code></pre>
${command('or ask the controller', `approve/${digest}`, means.apiUrl)}`
}`
}

/** A rewritten history, with the way to accept it. Pure. */
function history(set: SetStatus, means: Means): Html | false {
  if (!set.conditions.some(({ type }) => type === 'HistoryRewritten')) return false
  if ('setPage' in means) return html`<h3>Rewritten history</h3>${acceptHistoryButton(set, means.setPage)}`
  const ask = command(
    'To accept the branch as it is now, ask the controller',
    `sets/${encodeURIComponent(set.name)}/acknowledge-history`,
    means.apiUrl,
  )
  return ask && html`<h3>Rewritten history</h3>${ask}`
}

/** A command for the controller; nothing when /api is disabled. */
function command(words: string, path: string, apiUrl: string | null): Html | false {
  return (
    apiUrl !== null &&
    html`<p>${words}${apiUrl.startsWith('$') && html`, with its address in <code>${apiUrl}</code>`} and its token in <code>$CONTROLLER_TOKEN</code>:</p>
<pre tabindex="0"><code>curl -fsS -X POST -H "Authorization: Bearer $CONTROLLER_TOKEN" -d '{"actor": "'"$USER"'"}' "${apiUrl}/api/${path}"</code></pre>`
  )
}

/** Suspensions with actor, reason and end. Pure. */
function suspensions({ name, suspensions: all }: SetStatus, at: string, means: Means): Html | false {
  const isWhole = all.some(({ scope }) => scope === '*')
  return (
    all.length > 0 &&
    html`<h3>Suspended</h3><ul class="lines">
${all.slice(0, LINES_MAX).map(({ scope, reason, actor, since, until }) => html`<li>${scope === '*' ? 'The whole set' : html`<bdi>${shortened(scope, NAME_CHARS_MAX)}</bdi>`}, since ${timeElement(since, at)} by <bdi>${shortened(actor, NAME_CHARS_MAX)}</bdi>: <bdi>${shortened(reason, MESSAGE_CHARS_MAX)}</bdi>. ${until === null ? 'It lasts until it is resumed.' : html`It ends ${timeElement(until, at)} (${timeElement(until, at, 'absolute')}).`}</li>`)}</ul>
${more(all.length)}${isWhole && 'apiUrl' in means && command('To resume the set, ask the controller', `sets/${encodeURIComponent(name)}/resume`, means.apiUrl)}`
  )
}

/** Invalid manifests, with place and advice. Pure. */
function problems({ problems: all }: SetStatus): Html | false {
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

/** Pending decisions and problems of a set, shown before its services. Pure. */
export function waitingFor(set: SetStatus, { at }: Pick<ControllerStatus, 'at'>, means: Means): Html {
  return html`${approvals(set, means)}${history(set, means)}${suspensions(set, at, means)}${problems(set)}`
}
