import { afterAll, expect, test } from 'vitest'
import { startConsoleServer } from '../testing/startConsoleServer.ts'
import { csv } from './csv.ts'

const server = await startConsoleServer()
afterAll(() => server.close())

/** Renames an organisation `count` times, each an entry. */
async function rename(orgId: string, names: readonly string[]) {
  const [by, nowMs] = [{ kind: 'cli' } as const, Date.now()]
  await Promise.all(names.map((name) => server.store.renameOrg({ orgId, name, by, nowMs })))
}

test('the audit log shows who did what, with filters in its URL', async () => {
  const orgId = await server.createOrg({ name: 'Audited' })
  const owner = await server.signIn('owner', { orgId })
  await owner.client.post(`${owner.actions}/keys`, { note: 'CI', scope: 'read_only' })
  await rename(orgId, ['<b>Renamed</b>'])
  const path = `${owner.root}/settings/audit`
  const all = await owner.client.get(path)
  const byPerson = await owner.client.get(`${path}?actor=person&action=key`)
  const none = await owner.client.get(`${path}?to=2020-01-01`)
  const between = 'from=2020-01-01&to=2999-12-31'
  const now = await owner.client.get(`${path}?action=key.create&${between}`)

  expect(all.text).toContain('&lt;b&gt;Renamed&lt;/b&gt;')
  expect(all.text).toContain('Command line</bdi>')
  expect(byPerson.text).toContain(`<bdi>${owner.email}</bdi></td>\n<td data-of="Action"><code>key.create`)
  expect(byPerson.text).not.toContain('organisation.rename')
  expect(none.text).toContain('No entries match.')
  // A screen reader would find an empty navigation.
  expect(all.text).not.toContain('<nav class="pages"')
  expect(now.text.match(/<code>key\.create<\/code>/g)).toHaveLength(1)
})

test('the audit log has 100 entries a page, and the next page continues where one ends', async () => {
  const orgId = await server.createOrg({ name: 'Long' })
  const owner = await server.signIn('owner', { orgId })
  const names = Array.from({ length: 150 }, (_, index) => `name-${index}-`)
  await rename(orgId, names)
  const shownIn = (text: string) => [...text.matchAll(/name-(\d+)-/g)].map(([, number]) => Number(number))
  const first = await owner.client.get(`${owner.root}/settings/audit?action=organisation`)
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? []
  const second = await owner.client.get(next.replaceAll('&amp;', '&'))

  const shown = [...new Set([...shownIn(first.text), ...shownIn(second.text)])]
  expect(first.text.match(/<code>organisation\.rename/g)).toHaveLength(100)
  expect(shown.length).toBe(150)
  expect(second.text).not.toContain('rel="next"')
})

test('the audit log of an organisation is visible to its owners, and contains nothing of other organisations', async () => {
  const orgId = await server.createOrg({ name: 'Private' })
  await rename(orgId, ['canary-of-another'])
  const owner = await server.signIn('owner')
  const member = await server.signIn('member')
  const own = await owner.client.get(`${owner.root}/settings/audit.csv`)

  expect((await member.client.get(`${member.root}/settings/audit`)).status).toBe(403)
  expect((await member.client.get(`${member.root}/settings/audit.csv`)).status).toBe(403)
  expect((await owner.client.get(`/o/${orgId}/settings/audit.csv`)).status).toBe(404)
  expect(own.text).not.toContain('canary-of-another')
})

test('the audit log can be downloaded as CSV without formulas in its cells', async () => {
  const orgId = await server.createOrg({ name: 'Exported' })
  const owner = await server.signIn('owner', { orgId })
  const many = Array.from({ length: 1_050 }, (_, index) => `=cmd-${index}`)
  await rename(orgId, many)
  const file = await owner.client.get(`${owner.root}/settings/audit.csv?action=organisation.rename`)

  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"')
  expect(file.text.trimEnd().split('\r\n')).toHaveLength(1 + many.length)
  expect(csv([['=1', '+1', '-1', '@a', '\tb', '\nb', '＝1', '＠a', 'c', '"=', '']])).toBe(
    `"'=1","'+1","'-1","'@a","'\tb","'\nb","'＝1","'＠a","c","""=",""\r\n`,
  )
})
