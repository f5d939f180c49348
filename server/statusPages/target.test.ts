import { expect, test } from 'vitest'
import { placeOf, targetOf } from './target.ts'

test('targets with different responses have different cache keys, whatever is in the query and the Host header', () => {
  const requests = [
    ...['', '/history', '/history?month=', '/history?month=undefined', '/history?month=2026-11'].map(
      (below) => ({ boundHost: undefined, url: `/s/example${below}` }),
    ),
    ...['/', '/history', '/history?month='].map((url) => ({ boundHost: '/s/example', url })),
    ...['/?theme=dark', '/badge.svg'].map((url) => ({ boundHost: 'status.shop.example', url })),
  ]

  const names = requests.map((request) => targetOf(request)?.name)

  expect(new Set(names).size).toBe(requests.length)
})

test.each([
  [undefined, '/s/example', '', '/s/example'],
  ['Status.Example.org:8080', '/?theme=dark', 'status.example.org', '/?theme=dark'],
  ['status.example.org.', '/', 'status.example.org', '/'],
  ['status.example.org.:443', '/', 'status.example.org', '/'],
  ['status.example.org..', '/', 'status.example.org.', '/'],
  ['[::1]:80', '/', '[::1]', '/'],
  ['a.example', 'http://b.example:80/s/example?month=x', 'b.example', '/s/example?month=x'],
  ['a.example', 'HTTPS://B.example', 'b.example', ''],
  ['a.example', '/http://b.example/', 'a.example', '/http://b.example/'],
  ['a.example', '//b.example/', 'a.example', '//b.example/'],
])('host %s and request target %s are host "%s" and path %s', (hostHeader, requestTarget, host, url) => {
  expect(placeOf(hostHeader, requestTarget)).toEqual({ host, url })
})
