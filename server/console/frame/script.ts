import { QUESTION_FIELD } from './fields.ts'

/** For how long a form that was sent is not sent again (milliseconds): a test of a channel takes the longest. */
const SENT_MS = 16_000
/** After how long a page without a stream renews itself (milliseconds). */
const POLL_MS = 15_000
/** How often a page renews itself without a change, for its durations (milliseconds). */
const AGE_MS = 60_000

/**
 * The script of every page. Pages work without it; it adds local times, also in fields, whose values are UTC for the
 * server, confirmation of destructive actions (buttons with the name `question`), copy buttons (`data-copy` is the id
 * of an element), and live updates of parts of a page (`data-live` is the id of a service, or `services`). It sends a
 * form once, however often its button is pressed, and warns before a page with unsaved input is left. It moves the
 * focus to the problem after a mistake, and to `data-focus`.
 */
export const SCRIPT = `const shown = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }
const format = new Intl.DateTimeFormat('en-GB', shown), exact = new Intl.DateTimeFormat('en-GB', { ...shown, second: '2-digit' })
const localize = () => {
  for (const time of document.querySelectorAll('time[datetime]:not([title])')) {
    time.title = time.textContent
    time.textContent = (time.className === 'exact' ? exact : format).format(new Date(time.dateTime))
  }
}
localize()
// On a phone the sections are one row, which can be scrolled.
const section = document.querySelector('.side nav [aria-current]')
if (section) section.closest('ul').scrollLeft = section.offsetLeft - 60
const zone = document.getElementById('zone'), zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone
if (zone) zone.textContent = 'Times are in your time zone, ' + zoneName + '.'
const minuteOf = (date) => date.toISOString().slice(0, 16)
for (const input of document.querySelectorAll('input[type="datetime-local"]')) {
  const utc = input.value
  const date = new Date(utc + 'Z')
  const local = utc && minuteOf(new Date(date - date.getTimezoneOffset() * 60_000))
  input.value = local
  input.labels[0].textContent = input.labels[0].textContent.replace('UTC', zoneName)
  input.form.addEventListener('formdata', ({ formData }) => {
    // An unchanged time is sent as it came: when clocks go back, a local time means two instants.
    const typed = new Date(input.value)
    if (!isNaN(typed)) formData.set(input.name, input.value === local ? utc : minuteOf(typed))
  })
}
// A screen reader reads what has the focus.
document.querySelector('main :is([role="alert"], [aria-invalid="true"], [data-focus])')?.focus()
const sent = new WeakSet()
// The response to a form with a mistake contains unsaved input.
let isTyped = location.pathname.startsWith('/api/') && document.querySelector('main form .main') !== null
document.addEventListener('submit', (event) => {
  const form = event.target
  const question = event.submitter?.name === '${QUESTION_FIELD}' && event.submitter.value
  if (sent.has(form) || (question && !confirm(question))) return event.preventDefault()
  form.addEventListener('formdata', ({ formData }) => formData.delete('${QUESTION_FIELD}'), { once: true })
  sent.add(form)
  setTimeout(() => sent.delete(form), ${SENT_MS})
  isTyped = false
})
document.addEventListener('input', ({ target }) => { isTyped ||= target.form?.method === 'post' && target.type !== 'password' })
addEventListener('beforeunload', (event) => { if (isTyped) event.preventDefault() })
const policy = window.trustedTypes?.createPolicy('pharos', { createHTML: (text) => text })
const parts = (root) => [...root.querySelectorAll('[data-live]')]
const outdated = document.createElement('p')
outdated.className = 'notice bad'
outdated.setAttribute('role', 'status')
// Whether a part was not renewed because it is in use.
let isBehind = false
const renew = async () => {
  const response = await fetch(location.pathname + location.search, { cache: 'no-store' }).catch(() => {})
  // Without a session, the response is the page to sign in.
  if (!response?.ok || response.redirected) {
    if (!outdated.isConnected) document.querySelector('main').prepend(outdated)
    outdated.textContent = 'This page no longer updates itself and may be out of date. Reload it.'
    return
  }
  outdated.remove()
  const text = await response.text()
  const next = parts(new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html'))
  isBehind = false
  for (const [index, part] of parts(document).entries()) {
    // A click into a table focuses it too, but does not use it.
    const isInUse = part.querySelector(':focus-visible, details[open]')
    if (isInUse) isBehind = true
    else if (next[index]) part.replaceChildren(...next[index].childNodes)
  }
  localize()
}
const live = () => {
  const organisation = /^\\/o\\/[^/]+/.exec(location.pathname)
  if (!organisation || parts(document).length === 0) return
  let stream, renewing, following
  let isCut = false
  const later = () => { renewing ??= setTimeout(() => { renewing = undefined; renew().catch(() => {}) }, Math.random() * 500) }
  const follow = () => {
    clearTimeout(following)
    stream?.close()
    if (document.hidden) return
    stream = new EventSource(organisation[0] + '/live')
    stream.addEventListener('changed', (event) => {
      const ids = JSON.parse(event.data)
      const isShown = (part) => part.dataset.live === 'services' || ids === null || ids.includes(part.dataset.live)
      if (parts(document).some(isShown)) later()
    })
    stream.addEventListener('open', () => { if (isCut) later(); isCut = false })
    stream.addEventListener('error', () => {
      isCut = true
      later()
      // Refused: too many streams, or a proxy responds while the server restarts.
      if (stream.readyState === EventSource.CLOSED) following = setTimeout(follow, ${POLL_MS})
    })
  }
  follow()
  document.addEventListener('visibilitychange', () => { if (!document.hidden) later(); follow() })
  document.addEventListener('focusout', () => { if (isBehind) later() })
  setInterval(() => { if (!document.hidden) later() }, ${AGE_MS})
}
live()
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
  })
}
`
