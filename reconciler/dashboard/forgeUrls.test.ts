import { expect, test } from 'vitest'
import { commitUrl, fileUrl } from './forgeUrls.ts'

const SHA = '4f2a9c0d11'

test('a commit of GitHub or GitLab has a URL, whichever protocol git uses', () => {
  expect([
    commitUrl('https://github.com/example/shop.git', SHA),
    commitUrl('git@github.com:example/shop.git', SHA),
    commitUrl('ssh://git@gitlab.example.org/group/team/shop', SHA),
  ]).toEqual([
    `https://github.com/example/shop/commit/${SHA}`,
    `https://github.com/example/shop/commit/${SHA}`,
    `https://gitlab.example.org/group/team/shop/-/commit/${SHA}`,
  ])
})

test('a repository on another host, or an invalid address, gets no link', () => {
  const others = [
    ...['https://git.example.org/shop.git', '/srv/git/shop.git', 'file:///srv/git/shop.git'],
    ...['javascript:alert(1)', 'https://github.com/../x', 'https://github.com/a/b"onclick="x'],
  ]

  expect(others.map((repository) => commitUrl(repository, SHA))).toEqual(others.map(() => null))
  expect(commitUrl('https://github.com/example/shop', 'HEAD?x')).toBeNull()
})

test('a manifest has a URL at its commit, with every character of its path encoded', () => {
  expect([
    fileUrl('git@github.com:example/shop.git', SHA, 'monitoring/a b#1?.yaml'),
    fileUrl('https://gitlab.com/group/shop', SHA, 'checkout.yaml'),
    fileUrl('https://git.example.org/shop.git', SHA, 'checkout.yaml'),
    fileUrl('https://github.com/example/shop', SHA, '../../other/checkout.yaml'),
    fileUrl('https://github.com/example/shop', SHA, 'a\ud800.yaml'),
  ]).toEqual([
    `https://github.com/example/shop/blob/${SHA}/monitoring/a%20b%231%3F.yaml`,
    `https://gitlab.com/group/shop/-/blob/${SHA}/checkout.yaml`,
    null,
    null,
    null,
  ])
})
