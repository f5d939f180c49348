import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { type CheckedServer, checkOf, startHttpServer } from '../testing/checkedServer.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function opened(starting: Promise<CheckedServer>): Promise<CheckedServer> {
  const server = await starting
  closers.push(server.close)
  return server
}

const urlOf = ({ port }: CheckedServer, path = '/'): string => `http://127.0.0.1:${port}${path}`
const BODY_IS_OK = [{ Body: { matcher: { Equals: 'ok' } } }] as const

test('redirects are followed up to the limit, loops are reported, and 0 makes the redirect final', async () => {
  const server = await opened(
    startHttpServer(({ url = '' }, response) => {
      const [, count = '0'] = url.split(/[/?]/)
      const target = count === 'loop' ? '/loop' : `/${Number(count) - 1}?secret=1`
      if (count === '0') response.end('ok')
      else response.writeHead(302, { Location: target }).end()
    }),
  )
  const check = (path: string, max: number | null): Promise<object> =>
    checkOf({
      url: urlOf(server, path),
      http: { max_redirects_to_follow: max },
      assertions: max === 0 ? [] : BODY_IS_OK,
    })

  expect(await check('/3', 3)).toMatchObject({ outcome: 'up', status: 200 })
  expect(await check('/3', 2)).toMatchObject({
    reason: 'too_many_redirects',
    text: 'more than 2 redirects',
    status: 302,
  })
  expect(await check('/10', null)).toMatchObject({ outcome: 'up' })
  expect(await check('/20', 30)).toMatchObject({ outcome: 'up' })
  expect(await check('/21', 30)).toMatchObject({ text: 'more than 20 redirects' })
  expect(await check('/loop', 20)).toMatchObject({
    reason: 'too_many_redirects',
    text: `redirects lead back to http://127.0.0.1:${server.port}/loop`,
  })
  expect(await check('/1', 0)).toMatchObject({ outcome: 'up', status: 302 })
})

test.each<[number, 'GET' | 'POST', string]>([
  [301, 'POST', 'GET '],
  [302, 'POST', 'GET '],
  [303, 'POST', 'GET '],
  [307, 'POST', 'POST body'],
  [308, 'POST', 'POST body'],
  [307, 'GET', 'GET body'],
])('after %i a %s continues as "%s"', async (status, method, followed) => {
  const server = await opened(
    startHttpServer(async (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      await once(request, 'end')
      if (request.url === '/') response.writeHead(status, { Location: '/next' }).end()
      else response.end(`${request.method} ${Buffer.concat(parts)}`)
    }),
  )

  const result = await checkOf({
    url: urlOf(server),
    http: { method, body: { value: 'body' } },
    assertions: [{ Body: { matcher: { Equals: followed } } }],
  })

  expect(result).toMatchObject({ outcome: 'up' })
})

test('a redirect to another origin takes no secret along, and none may send a sealed body there', async () => {
  const seen: (string | undefined)[][] = []
  const other = await opened(
    startHttpServer(({ headers }, response) => {
      seen.push([
        headers.authorization,
        headers.cookie,
        headers['x-sealed']?.toString(),
        headers['x-plain']?.toString(),
      ])
      response.end()
    }),
  )
  const server = await opened(
    startHttpServer((_request, response) => response.writeHead(307, { Location: urlOf(other) }).end()),
  )
  const headers = {
    Authorization: { value: 'Bearer a' },
    Cookie: { value: 'a=b' },
    'X-Sealed': { value: 'sealed', sensitive: true },
    'X-Plain': { value: 'plain' },
  }

  await checkOf({ url: urlOf(server), http: { headers } })
  const withBody = await checkOf({
    url: urlOf(server),
    http: { method: 'POST', body: { value: 'secret', sensitive: true } },
  })

  expect(seen).toEqual([[undefined, undefined, undefined, 'plain']])
  expect(withBody).toMatchObject({ reason: 'redirect_invalid', outcome: 'down' })
})
