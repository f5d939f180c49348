import { expect, test } from 'vitest'
import { commitUrl } from './commitUrl.ts'

const SHA = '4f2a9c0d11'

test('a commit of GitHub or GitLab has an address, whatever git reaches the repository by', () => {
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

test('a repository elsewhere, or one that is no address, gets no link', () => {
  const others = [
    ...['https://git.example.org/shop.git', '/srv/git/shop.git', 'file:///srv/git/shop.git'],
    ...['javascript:alert(1)', 'https://github.com/../x', 'https://github.com/a/b"onclick="x'],
  ]

  expect(others.map((repository) => commitUrl(repository, SHA))).toEqual(others.map(() => null))
  expect(commitUrl('https://github.com/example/shop', 'HEAD?x')).toBeNull()
})
