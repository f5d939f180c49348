/**
 * Streams of the console. The message "begin" drops all events so far. An instant requests the times from then to the
 * first event of each stream, once all have one or ten seconds have passed. Arguments: address of the stream, session
 * cookies.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const WAIT_MS_MAX = 10_000
const [address = '', ...cookies] = process.argv.slice(2)
const firstAt = new Map<string, number>()
let open = 0

async function follow(cookie: string): Promise<void> {
  const stream = await fetch(address, { headers: { cookie } })
  open += 1
  if (open === cookies.length) process.send?.('all are open')
  const decoder = new TextDecoder()
  for await (const bytes of stream.body ?? []) {
    if (decoder.decode(bytes).includes('event:') && !firstAt.has(cookie)) firstAt.set(cookie, Date.now())
  }
}

process.on('message', async (message: 'begin' | number) => {
  if (message === 'begin') {
    // Events of the previous change have arrived by then.
    await sleep(1_000)
    firstAt.clear()
    process.send?.('ready')
    return
  }
  const untilMs = performance.now() + WAIT_MS_MAX
  while (firstAt.size < cookies.length && performance.now() < untilMs) await sleep(5)
  process.send?.([...firstAt.values()].map((atMs) => Math.max(0, atMs - message)))
})
await Promise.all(cookies.map(follow))
