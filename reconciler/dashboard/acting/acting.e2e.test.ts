import { expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { API_TOKEN, type TestController } from '../../testing/testController.ts'
import { SESSION_MS } from './sessions.ts'

const { controllerOf, names } = controllerScene(startServer)
const FROM_PAGE = { 'sec-fetch-site': 'same-origin' }

/** A browser without scripts that follows no redirects. */
function visitorOf({ controller }: TestController) {
  let cookie = ''
  const send = async (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) => {
    const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) }
    const response = await fetch(`${controller.url}${path}`, { ...init, headers, redirect: 'manual' })
    const [set] = response.headers.getSetCookie()
    if (set !== undefined) cookie = set.split(';', 1)[0] ?? ''
    return {
      status: response.status,
      location: response.headers.get('location'),
      set,
      text: await response.text(),
    }
  }
  const post = (
    path: string,
    form: Record<string, string> = {},
    headers: Record<string, string> = FROM_PAGE,
  ) => send(path, { method: 'POST', body: new URLSearchParams(form), headers })
  return {
    get: (path: string) => send(path),
    post,
    signIn: (form: Record<string, string> = {}) =>
      post('/sign-in', { token: API_TOKEN, name: 'Ada', ...form }),
    /** Acts on the set, and reads what its page says about that. */
    act: async (action: string, form: Record<string, string> = {}) => {
      expect(await post(`/sets/shop/${action}`, form)).toMatchObject({ status: 303, location: '../shop' })
      return messageIn((await send('/sets/shop')).text)
    },
    cookie: () => cookie,
    useCookie: (value: string) => {
      cookie = value
    },
  }
}

function messageIn(page: string): string | null {
  return /<p class="outcome[^>]*>([^<]*)</.exec(page)?.[1] ?? null
}

/** A controller whose set has a delete that waits for an approval. */
async function waitingController(): Promise<TestController> {
  const one = await controllerOf({
    more: '    brakes: {maxDeletes: {count: 0, percent: 0}}\n    prune: policy\n',
  })
  one.repository.commit(manifestFiles('a', 'b', 'c', 'd'))
  one.start()
  await one.nextCycle()
  one.repository.commit({ 'monitoring/c.yaml': null })
  await one.nextCycle()
  return one
}

test('the token and a name are exchanged for a cookie for this host only, until the person signs out', async () => {
  const one = await controllerOf()
  const ada = visitorOf(one)
  expect((await ada.get('/sets/shop')).text).toContain('href="../sign-in?set=shop"')
  expect((await ada.get('/sign-in?set=shop')).text).toContain('name="set" value="shop"')

  const signedIn = await ada.signIn({ set: 'shop' })
  expect(signedIn).toMatchObject({ status: 303, location: 'sets/shop' })
  expect(signedIn.set).toMatch(
    /^__Host-pharos-controller=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200$/,
  )
  expect((await ada.get('/')).text).toContain('Signed in as <bdi>Ada</bdi>')

  const stolen = ada.cookie()
  expect(await ada.post('/sign-out')).toMatchObject({ status: 303, location: './' })
  ada.useCookie(stolen)
  expect((await ada.get('/')).text).not.toContain('Signed in')
})

test('a session ends after twelve hours, at a new sign-in, and when a hundred newer ones exist', async () => {
  const one = await controllerOf()
  const [ada, eve] = [visitorOf(one), visitorOf(one)]
  const isSignedIn = async () => (await ada.get('/')).text.includes('Signed in')
  await ada.signIn()
  const first = ada.cookie()
  await ada.signIn()
  const second = ada.cookie()
  ada.useCookie(first)
  expect(await isSignedIn()).toBe(false)

  ada.useCookie(second)
  one.clock.advance(SESSION_MS - 1)
  expect(await isSignedIn()).toBe(true)
  one.clock.advance(1)
  expect(await isSignedIn()).toBe(false)

  await ada.signIn()
  for (let count = 0; count < 100; count += 1) {
    expect(await isSignedIn()).toBe(true)
    eve.useCookie('')
    await eve.signIn()
  }
  expect(await isSignedIn()).toBe(false)
})

test('wrong tokens are refused and throttled, the correct one is not, and no page shows them', async () => {
  const one = await controllerOf()
  const ada = visitorOf(one)
  const wrong = await ada.signIn({ token: 'CANARY-of-the-token' })
  expect([wrong.status, wrong.set, wrong.text.includes('value="Ada"')]).toEqual([401, undefined, true])
  expect(wrong.text).toContain('This is not the token of the controller.')
  expect(wrong.text).not.toContain('CANARY')
  const statuses: number[] = []
  for (let count = 0; count < 12; count += 1) statuses.push((await ada.signIn({ token: 'no' })).status)
  expect(statuses.at(-1)).toBe(429)

  expect((await ada.signIn({ name: ' ' })).status).toBe(400)
  expect((await ada.signIn({ set: '//evil.example' })).location).toBe('./')
})

test('a form is accepted only from a page of the controller, by its fetch metadata or its origin', async () => {
  const one = await controllerOf()
  const ada = visitorOf(one)
  await ada.signIn()
  const { url } = one.controller
  const tried = async (headers: Record<string, string>) =>
    Promise.all(
      ['/sets/shop/sync', '/sign-in', '/sign-out'].map(async (path) => {
        const guest = visitorOf(one)
        guest.useCookie(path === '/sign-out' ? '' : ada.cookie())
        return (await guest.post(path, { token: 'no', name: 'Eve' }, headers)).status
      }),
    )
  for (const headers of [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: `${url}0` },
    { 'sec-fetch-site': 'same-site', origin: `${url}` },
    { 'sec-fetch-site': 'cross-site', origin: `${url}` },
    { 'sec-fetch-site': 'none', origin: `${url}` },
  ])
    expect([headers, await tried(headers)]).toEqual([headers, [403, 403, 403]])
  expect(await tried({ origin: `${url}` })).toEqual([303, 401, 303])
  expect(await tried(FROM_PAGE)).toEqual([303, 401, 303])
})

test('a person without a session is asked to sign in and cannot change anything, and a GET changes nothing', async () => {
  const one = await controllerOf()
  const guest = visitorOf(one)
  for (const action of ['sync', 'suspend', 'resume', 'approve', 'acknowledge-history']) {
    expect(await guest.post(`/sets/shop/${action}`, { reason: 'x', for: '1h' })).toMatchObject({
      status: 303,
      location: '../../sign-in?set=shop&undone',
    })
  }
  expect((await guest.get('/sign-in?set=shop&undone')).text).toContain('Not done: your session has ended.')
  expect(await guest.get('/sets/shop/suspend')).toMatchObject({ status: 303 })
  await guest.signIn()
  for (const action of ['sync', 'resume', 'approve', 'acknowledge-history'])
    expect((await guest.get(`/sets/shop/${action}`)).status).toBe(405)
  expect((await guest.post('/sets/no/sync')).status).toBe(404)
  expect(one.shop().suspensions).toEqual([])
})

test('a set is synced, suspended with a reason and resumed from its page, and each action names its person', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const ada = visitorOf(one)
  await ada.signIn()

  one.repository.commit(manifestFiles('b'))
  expect(await ada.act('sync')).toMatch(/^A run is requested/)
  expect(messageIn((await ada.get('/sets/shop')).text)).toBe(null)
  expect((await ada.get('/sign-in')).text).not.toContain('Not done')
  expect(await one.nextCycle()).toMatchObject({ lastRun: { trigger: 'api' } })

  expect(await ada.act('suspend', { reason: ' ', for: '1h' })).toMatch(/^Not done: give a reason/)
  expect(await ada.act('suspend', { reason: 'release', for: '9h' })).toMatch(/^Not done: give a reason/)
  expect(await ada.act('suspend', { reason: 'release', for: '4h' })).toBe('The set is suspended.')
  const [suspension] = one.shop().suspensions
  expect(suspension).toMatchObject({ scope: '*', reason: 'release', actor: 'Ada' })
  expect(Date.parse(suspension?.until ?? '') - Date.parse(suspension?.since ?? '')).toBe(4 * 3_600_000)
  expect(await ada.act('resume')).toBe('The set is resumed.')
  expect(await ada.act('resume')).toBe('Not done: the set is not suspended.')
  expect(one.events.filter(({ type }) => type === 'Resumed').map(({ message }) => message)).toEqual([
    'Ada resumed the set',
  ])
  expect(await ada.act('acknowledge-history', { commit: 'f'.repeat(40) })).toMatch(
    /^Not done: the branch has a newer commit/,
  )
  expect(await ada.act('acknowledge-history', { commit: one.shop().commit?.sha ?? '' })).toMatch(
    /not rewritten/,
  )
})

test('an approval applies to the digest that the page showed, and a stale digest approves nothing', async () => {
  const one = await waitingController()
  const ada = visitorOf(one)
  await ada.signIn()
  const stale = one.shop().approvals[0]?.digest ?? ''
  const page = (await ada.get('/sets/shop')).text
  expect(page).toContain(`<button class="main">Approve ${stale}</button>`)
  expect(page).toContain('<li><bdi>delete c</bdi></li>')

  one.repository.commit({ 'monitoring/d.yaml': null })
  await one.nextCycle()
  expect(await ada.act('approve', { digest: stale })).toMatch(/^Not done: the pending changes are different/)
  await ada.post('/sets/shop/approve')
  const refused = (await ada.get('/sets/shop')).text
  expect(messageIn(refused)).toMatch(/^Not done/)
  // It is readable for as long as a person needs.
  expect(refused).not.toContain('http-equiv="refresh"')
  expect((await ada.get('/sets/shop')).text).toContain('http-equiv="refresh"')
  await one.nextCycle()
  expect(await names()).toEqual(['a', 'b', 'c', 'd'])

  const digest = one.shop().approvals[0]?.digest ?? ''
  expect(await ada.act('approve', { digest })).toBe(`Approved: ${digest}.`)
  await one.until(() => one.shop().headline === 'Ready')
  expect(await names()).toEqual(['a', 'b'])
  expect(await ada.act('approve', { digest })).toMatch(
    /^Not done: no changes of the set wait for an approval/,
  )
  expect(one.events.filter(({ type }) => type === 'Approved').map(({ message }) => message)).toEqual([
    `Ada approved ${digest}`,
  ])
})
