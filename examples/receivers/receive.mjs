import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** Number of remembered event ids, so that a repeated event is handled once. */
const IDS_MAX = 10_000
/** Maximum length of a body (bytes). */
const BODY_BYTES_MAX = 1_048_576

/**
 * Serves webhooks of Pharos at HOST and PORT (default: 127.0.0.1:8080) and gives each event to `handle` once. Requests
 * without a valid signature of PHAROS_WEBHOOK_SECRET get 401. When `handle` rejects, the response is 502: Pharos sends
 * the event again later.
 */
export function receive(handle) {
  const { PORT = '8080', HOST = '127.0.0.1' } = process.env
  const webhook = new Webhook(required('PHAROS_WEBHOOK_SECRET'))
  const handled = new Set()
  const statusFor = async (request) => {
    let event
    try {
      event = webhook.verify(await bodyOf(request), request.headers)
    } catch {
      return 401
    }
    const id = request.headers['webhook-id']
    if (handled.has(id)) return 204
    await handle(event)
    handled.add(id)
    if (handled.size > IDS_MAX) handled.delete(handled.values().next().value)
    return 204
  }
  const server = createServer((request, response) => {
    statusFor(request)
      .catch((error) => {
        process.stderr.write(`${error.message}\n`)
        return 502
      })
      .then((status) => response.writeHead(status).end())
  })
  server.listen(Number(PORT), HOST, () =>
    process.stdout.write(`listening on http://${HOST}:${server.address().port}\n`),
  )
}

/** The variable `name`; ends the program when it is not set. */
export function required(name) {
  const value = process.env[name]
  if (value) return value
  process.stderr.write(`set ${name}\n`)
  process.exit(1)
}

/** Sends `body` as JSON; resolves to the response. Rejects when the response is an error. */
export async function send(method, url, body, headers = {}) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  })
  const text = await response.text()
  if (!response.ok)
    throw new Error(`${method} ${new URL(url).host} responded with ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function bodyOf(request) {
  const parts = []
  let bytes = 0
  for await (const part of request) {
    bytes += part.length
    if (bytes > BODY_BYTES_MAX) throw new Error('too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
