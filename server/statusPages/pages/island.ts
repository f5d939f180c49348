/**
 * The script of a page. Pages work without it; it adds local times, and refreshes a visible page every 30 seconds, with
 * opened lists kept open, unless the reader has reached the content by keyboard. A page that cannot be refreshed says so.
 * It runs under Trusted Types: its only policy parses pages of the same URL.
 */
export const ISLAND = `const REFRESH_MS = 30000
const policy = window.trustedTypes?.createPolicy('pharos', { createHTML: (text) => text })
const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const localize = () => {
  for (const time of document.querySelectorAll('time')) {
    time.title = time.textContent
    time.textContent = format.format(new Date(time.dateTime))
  }
  document.getElementById('zone').textContent = 'Times are in your time zone, ' + zone + '.'
}
const main = document.querySelector('main')
// Of the component of a list.
const nameOf = (list) => list.parentElement.querySelector('h3').textContent
let shown = main.innerHTML
const outdated = document.createElement('p')
outdated.className = 'group'
outdated.setAttribute('role', 'status')
const refresh = async () => {
  // A click into the content focuses it too, but does not use it.
  if (document.hidden || main.querySelector(':focus-visible')) return
  const response = await fetch(location.pathname + location.search, { cache: 'no-cache' }).catch(() => {})
  if (!response?.ok) {
    if (outdated.isConnected) return
    outdated.textContent = ''
    main.prepend(outdated)
    // Screen readers announce what changes in an element that is already there.
    outdated.textContent = 'This page no longer updates itself and may be out of date. Reload it.'
    return
  }
  outdated.remove()
  const text = await response.text()
  const next = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html')
  const content = next.querySelector('main')
  if (content.innerHTML === shown) return
  shown = content.innerHTML
  const opened = new Set([...main.querySelectorAll('details[open]')].map(nameOf))
  main.replaceChildren(...content.childNodes)
  for (const list of main.querySelectorAll('details')) list.open = opened.has(nameOf(list))
  document.title = next.title
  localize()
}
localize()
setInterval(() => refresh().catch(() => {}), REFRESH_MS)
document.addEventListener('visibilitychange', () => refresh().catch(() => {}))
`
