/**
 * Open consoles. Each follows the stream of changes, and reloads the list of services up to half a second after a
 * change, as the script of the page does. Arguments: address of the console, path of the list, session cookies.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', list = '', ...cookies] = process.argv.slice(2)
let reads = 0
let open = 0

async function follow(cookie: string): Promise<void> {
  const organisation = list.split('/').slice(0, 3).join('/')
  const stream = await fetch(`${url}${organisation}/live`, { headers: { cookie } })
  open += 1
  if (open === cookies.length) process.send?.('all are open')
  let isWaiting = false
  const decoder = new TextDecoder()
  for await (const bytes of stream.body ?? []) {
    if (!decoder.decode(bytes).includes('event: changed') || isWaiting) continue
    isWaiting = true
    void sleep(Math.random() * 500).then(async () => {
      isWaiting = false
      const page = await fetch(`${url}${list}`, { headers: { cookie } })
      await page.text()
      reads += 1
    })
  }
}

process.on('message', () => process.send?.(reads))
await Promise.all(cookies.map(follow))
