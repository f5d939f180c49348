/**
 * For each message reads one page repeatedly, and then replies. It is a separate process, so that the cost of reading
 * does not count as the server's. Arguments: session cookie, number of requests.
 */
import { Agent, get } from 'node:http'

const [cookie = '', requests] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function read(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { cookie } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} responded with ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    }).on('error', reject)
  })
}

process.on('message', async (url: string) => {
  for (let index = 0; index < Number(requests); index += 1) await read(url)
  process.send?.('done')
})
