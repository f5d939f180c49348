import { promises as dns } from 'node:dns'
import { expect, test } from 'vitest'
import { startDnsServer } from '../testing/dnsServer.ts'
import { NameResolver } from './nameResolver.ts'

test('a machine that gets other DNS servers resolves names with them within ten seconds', async () => {
  const before = await startDnsServer({ 'shop.example': () => ['192.0.2.1'] }, 0)
  const after = await startDnsServer({ 'shop.example': () => ['192.0.2.2'] }, 0)
  let server = before
  let nowMs = 0
  const systemResolver = (): dns.Resolver => {
    const resolver = new dns.Resolver({ timeout: 2_500, tries: 2 })
    resolver.setServers([server.address])
    return resolver
  }
  const names = new NameResolver({ systemResolver, nowMs: () => nowMs, readHosts: async () => '' })

  const first = await names.resolve('shop.example', false)
  await before.close()
  server = after
  nowMs = 10_000
  const second = await names.resolve('shop.example', false)
  names.close()
  await after.close()

  expect([first, second]).toEqual([['192.0.2.1'], ['192.0.2.2']])
})
