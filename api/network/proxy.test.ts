import { expect, test } from 'vitest'
import { proxyOf } from './proxy.ts'

const HTTPS_PROXY = 'http://proxy.example:3128'

test.each([
  // rule, host, port, whether the proxy is used
  ['', 'api.example', 443, true],
  ['api.example', 'api.example', 443, false],
  ['API.example', 'api.EXAMPLE.', 443, false],
  ['example', 'api.example', 443, false],
  ['.example', 'api.example', 443, false],
  ['*.example', 'api.example', 443, false],
  ['.example', 'example', 443, false],
  ['xample', 'api.example', 443, true],
  ['other, api.example', 'api.example', 443, false],
  ['other api.example', 'api.example', 443, false],
  ['api.example:8443', 'api.example', 443, true],
  ['api.example:8443', 'api.example', 8443, false],
  ['*', 'api.example', 443, false],
  ['10.0.0.0/8', '10.1.2.3', 443, false],
  ['10.0.0.0/8', '11.1.2.3', 443, true],
  ['10.0.0.0/99', '10.1.2.3', 443, true],
  ['10.1.2.3', '10.1.2.3', 443, false],
  ['2.3', '10.1.2.3', 443, true],
  ['2001:db8::/32', '[2001:db8::1]', 443, false],
  ['[2001:db8::1]:443', '[2001:db8::1]', 443, false],
  ['[2001:db8::1]:8443', '[2001:db8::1]', 443, true],
  ['', 'localhost', 443, false],
  ['', 'api.localhost', 443, false],
  ['', '127.0.0.2', 443, false],
  ['', '[::1]', 443, false],
])('with NO_PROXY %j, the proxy is used for %s port %d: %s', (rule, host, port, isUsed) => {
  const proxy = proxyOf({ HTTPS_PROXY, NO_PROXY: rule })

  expect(proxy?.covers(host, port)).toBe(isUsed)
})

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: ' ' }, undefined],
  [{ HTTPS_PROXY }, 'http://proxy.example:3128/'],
  [{ HTTPS_PROXY, https_proxy: 'https://lower.example' }, 'https://lower.example/'],
  [{ HTTPS_PROXY, https_proxy: '' }, 'http://proxy.example:3128/'],
  [{ HTTPS_PROXY: 'proxy.example:3128' }, 'http://proxy.example:3128/'],
])('%j names the proxy %s', (environment, url) => {
  expect(proxyOf(environment)?.url.href).toBe(url)
})

test('a proxy password without a user name is sent too', () => {
  const proxy = proxyOf({ https_proxy: 'http://:secret@proxy.example:3128' })

  expect(proxy?.authorization).toBe(`Basic ${Buffer.from(':secret').toString('base64')}`)
  expect(proxy?.variable).toBe('https_proxy')
})

test('user name and password in a proxy address are decoded before they are sent', () => {
  const proxy = proxyOf({ HTTPS_PROXY: 'http://us%40er:p%C3%A4ss%25@proxy.example:3128' })

  expect(proxy?.authorization).toBe(`Basic ${Buffer.from('us@er:päss%').toString('base64')}`)
})

test.each([
  'socks5://user:canary@proxy.example',
  'http://user:canary@proxy.example/path',
  'http://us er:canary@',
])('%s is refused with the name of its variable, and without its password', (address) => {
  expect(() => proxyOf({ HTTPS_PROXY: address })).toThrow(
    /^HTTPS_PROXY is not the address of a proxy: write http:\/\/host:port$/,
  )
  expect(() => proxyOf({ https_proxy: address })).toThrow(/^https_proxy is not the address/)
})
