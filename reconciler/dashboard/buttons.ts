import { type Html, html } from '../../web/html.ts'
import type { PendingApproval, SetStatus } from '../controller/status/status.ts'

/** Sync, and suspend or resume, for the set whose page is at `setPage`. Pure. */
export function setButtons({ suspensions }: SetStatus, setPage: string): Html {
  const isSuspended = suspensions.some(({ scope }) => scope === '*')
  return html`<div class="buttons">${button(`${setPage}/sync`, 'Sync now')}
${isSuspended ? button(`${setPage}/resume`, 'Resume') : html`<a class="button" href="${setPage}/suspend">Suspend…</a>`}</div>`
}

/** Approves the changes with this digest, and no others. Pure. */
export function approveButton({ digest }: PendingApproval, setPage: string): Html {
  return html`<form method="post" action="${setPage}/approve"><input type="hidden" name="digest" value="${digest}"><button class="main">Approve ${digest}</button></form>`
}

/** Accepts a rewritten history up to the commit on the page. Pure. */
export function acceptHistoryButton({ commit }: SetStatus, setPage: string): Html {
  return html`<form method="post" action="${setPage}/acknowledge-history"><input type="hidden" name="commit" value="${commit?.sha ?? ''}"><button>Accept the branch as it is</button></form>`
}

function button(action: string, text: string): Html {
  return html`<form method="post" action="${action}"><button>${text}</button></form>`
}
