import { expect, test } from 'vitest'
import { cacheUntilCommit } from './cacheUntilCommit.ts'

function memory(sizeMax: number) {
  let version = 1
  const read: string[] = []
  const remember = cacheUntilCommit<string>(
    { current: () => version, forget: () => {} },
    sizeMax,
    (text) => text.length,
  )
  return {
    read,
    ask: (name: string, text: string): string =>
      remember(name, () => {
        read.push(text)
        return text
      }),
    commit: () => {
      version += 1
    },
  }
}

test('cached values are read again only after a commit', () => {
  const { ask, commit, read } = memory(100)

  const before = [ask('a', 'a1'), ask('a', 'a1'), ask('b', 'b1')]
  commit()
  const after = [ask('a', 'a2'), ask('a', 'a2'), ask('b', 'b2')]

  expect([before, after]).toEqual([
    ['a1', 'a1', 'b1'],
    ['a2', 'a2', 'b2'],
  ])
  expect(read).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('the cache keeps its size limit, and a larger value is read each time', () => {
  const { ask, read } = memory(10)

  for (const text of ['a-----', 'b---', 'a-----', 'c----', 'a-----', 'huge-------', 'huge-------'])
    ask(text, text)

  expect(read).toEqual(['a-----', 'b---', 'c----', 'a-----', 'huge-------', 'huge-------'])
})
