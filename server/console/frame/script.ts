/**
 * The script of every page. Pages work without it; it adds local times, confirmation of destructive actions
 * (`data-confirm` of a button), copy buttons (`data-copy` is the id of an element), and live updates of parts of a page
 * (`data-live` is the id of a service, or `services`).
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
const zone = document.getElementById('zone')
if (zone) zone.textContent = 'Times are in your time zone, ' + Intl.DateTimeFormat().resolvedOptions().timeZone + '.'
document.addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm
  if (question && !confirm(question)) event.preventDefault()
})
const policy = window.trustedTypes?.createPolicy('pharos', { createHTML: (text) => text })
const parts = (root) => [...root.querySelectorAll('[data-live]')]
const renew = async () => {
  const response = await fetch(location.pathname + location.search, { cache: 'no-store' })
  if (!response.ok) return
  const text = await response.text()
  const next = parts(new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html'))
  for (const [index, part] of parts(document).entries()) {
    const isInUse = part.contains(document.activeElement) || part.querySelector('details[open]')
    if (next[index] && !isInUse) part.replaceChildren(...next[index].childNodes)
  }
  localize()
}
const live = () => {
  const organisation = /^\\/o\\/[^/]+/.exec(location.pathname)
  if (!organisation || parts(document).length === 0) return
  let stream
  let renewing
  const later = () => { renewing ??= setTimeout(() => { renewing = undefined; renew().catch(() => {}) }, Math.random() * 500) }
  const follow = () => {
    stream?.close()
    stream = document.hidden ? undefined : new EventSource(organisation[0] + '/live')
    stream?.addEventListener('changed', (event) => {
      const ids = JSON.parse(event.data)
      const isShown = (part) => part.dataset.live === 'services' || ids === null || ids.includes(part.dataset.live)
      if (parts(document).some(isShown)) later()
    })
  }
  follow()
  document.addEventListener('visibilitychange', () => { if (!document.hidden) later(); follow() })
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
