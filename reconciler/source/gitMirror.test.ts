import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { gitCalls } from '../testing/gitCalls.ts'
import { gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { mirrorOf } from './gitMirror.ts'
import { gitSource } from './gitSource.ts'

test('a cycle without a new commit starts git for the fetch only, and one with a new commit twice more', async () => {
  const repository = gitRepository()
  onTestFinished(() => repository.remove())
  const { path, taken } = gitCalls(testFolder())
  const source = gitSource({
    access: { url: repository.url, scheme: 'file' },
    branch: 'main',
    directory: join(testFolder(), 'mirror'),
    env: { PATH: path },
    path: '.',
  })
  const load = (sha: string) =>
    source.load(sha, { env: {}, secretsDirectory: '/run', allowInlineSecrets: false, secrets: 'required' })
  const first = repository.commit({ 'a.yaml': manifestOf('a') })

  await load(await source.fetch())
  expect(taken()).toEqual(['fetch', 'log', 'ls-tree', 'cat-file'])
  expect(await source.fetch()).toBe(first)
  // The shell of the fetch reads the head, which takes no further process of this program.
  expect(taken()).toEqual(['fetch', 'log'])

  const second = repository.commit({ 'b.yaml': manifestOf('b') })
  const { commit, set } = await load(await source.fetch())
  expect(await source.contains(second, first)).toBe(true)
  expect(taken()).toEqual(['fetch', 'log', 'ls-tree', 'cat-file'])
  expect([commit.sha, commit.parents, set.services.length]).toEqual([second, [first], 2])
})

test('a damaged mirror in the folder of another checkout is made again, and the checkout stays unchanged', async () => {
  const [repository, other] = [gitRepository(), gitRepository()]
  onTestFinished(() => repository.remove())
  onTestFinished(() => other.remove())
  const newest = repository.commit({ 'a.yaml': manifestOf('a') })
  const own = other.commit({ README: 'other' })
  other.git('checkout', '--quiet', '-b', 'work')
  const directory = join(other.directory, 'data', 'mirror.git')
  const access = { url: repository.url, scheme: 'file' } as const
  const mirror = mirrorOf({ access, branch: 'main', directory, env: { PATH: process.env.PATH } })
  await mirror.fetch()

  unlinkSync(join(directory, 'HEAD'))
  expect(await mirror.fetch()).toBe(newest)
  expect(other.git('rev-parse', 'main').trim()).toBe(own)
})
