import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const TEXT = readFileSync('llms.txt', 'utf8')
const LINKS = [...TEXT.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gm)].map(([, link = '']) => link)

test('llms.txt follows its convention: a title, a summary, and lists of links with notes', () => {
  const [title, summary, ...rest] = TEXT.trimEnd().split('\n\n')
  const blocks = rest.slice(1)

  expect([title, summary?.startsWith('> ')]).toEqual(['# Pharos', true])
  expect(blocks.length).toBeGreaterThan(5)
  const misformed = blocks.filter((block, index) =>
    index % 2 === 0
      ? !/^## [A-Z][^\n]*$/.test(block)
      : !/^(?:- \[[^\]\n]+\]\([^)\n]+\): [^\n]+(?:\n|$))+$/.test(block),
  )
  expect(misformed).toEqual([])
  expect(blocks.at(-2)).toBe('## Optional')
})

test('llms.txt links to files that exist, to each once, and to every page of the documentation', () => {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)

  expect(LINKS.filter((link) => !existsSync(link))).toEqual([])
  expect(LINKS.filter((link, index) => LINKS.indexOf(link) !== index)).toEqual([])
  expect(pages.length).toBeGreaterThan(20)
  expect(pages.filter((page) => !LINKS.includes(page))).toEqual([])
})
