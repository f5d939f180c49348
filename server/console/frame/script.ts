/**
 * The script of every page, which improves what is complete without it: times in the reader's zone, a question before what
 * cannot be undone (`data-confirm` of a button), and a button that copies (`data-copy` names an element by its id).
 */
export const SCRIPT = `const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
const localize = () => {
  for (const time of document.querySelectorAll('time[datetime]:not([title])')) {
    time.title = time.textContent
    time.textContent = format.format(new Date(time.dateTime))
  }
}
localize()
const zone = document.getElementById('zone')
if (zone) zone.textContent = 'Times are in your time zone, ' + Intl.DateTimeFormat().resolvedOptions().timeZone + '.'
document.addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm
  if (question && !confirm(question)) event.preventDefault()
})
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
  })
}
`
