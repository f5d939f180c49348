import { expect, test } from 'vitest'
import { renderedLists } from './renderedLists.ts'

test('a list is rendered once for each version, and for each organisation by itself', () => {
  const lists = renderedLists()
  const rendered: string[] = []
  const list = (orgId: string, version: number): string =>
    lists
      .get(orgId, version, () => {
        rendered.push(`${orgId}${version}`)
        return Buffer.from(`${orgId}${version}`)
      })
      .toString()

  const got = [list('a', 1), list('a', 1), list('b', 1), list('a', 2), list('a', 2), list('b', 2)]

  expect(got).toEqual(['a1', 'a1', 'b1', 'a2', 'a2', 'b2'])
  expect(rendered).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('no more bytes are kept than may be, and a list beyond that is rendered each time', () => {
  const lists = renderedLists(10)
  const rendered: string[] = []
  const ask = (orgId: string, size: number): void => {
    lists.get(orgId, 1, () => {
      rendered.push(orgId)
      return Buffer.alloc(size)
    })
  }

  for (const [orgId, size] of [
    ['a', 6],
    ['b', 4],
    ['a', 6],
    ['c', 5],
    ['a', 6],
    ['huge', 11],
    ['huge', 11],
  ] as const) {
    ask(orgId, size)
  }

  expect(rendered).toEqual(['a', 'b', 'c', 'a', 'huge', 'huge'])
})
