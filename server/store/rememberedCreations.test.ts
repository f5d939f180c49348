import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from './openDatabase.ts'
import { prepareRemember } from './rememberedCreations.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pharos-remembered-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('of the long answers of an organisation the newest are remembered, and of the short ones all', async () => {
  const { writer, reader } = await openDatabase(folder)
  const remember = prepareRemember(writer, 100_000)
  let nowMs = 0
  let created = 0
  const create = (orgId: string, key: string, answer: string): void => {
    const mark = { keyHash: Buffer.from(key), bodyMark: Buffer.from('body') }
    nowMs += 1
    remember(orgId, mark, nowMs, () => {
      created += 1
      return answer
    })
  }
  const long = 'é'.repeat(15_000)

  create('acme', 'short', 'x')
  create('other', 'long', long)
  for (const key of ['a', 'b', 'c', 'd', 'e']) create('acme', key, long)
  for (const key of ['short', 'c', 'd', 'e']) create('acme', key, long)
  create('other', 'long', long)
  const before = created
  for (const key of ['a', 'b']) create('acme', key, long)

  expect([before, created]).toEqual([7, 9])
  writer.close()
  reader.close()
})
