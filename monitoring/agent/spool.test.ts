import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { openSpool, type SpoolProblem } from './spool.ts'
import { queued } from './testing/pendingResults.ts'

const MIB = 1_024 * 1_024

let folder: string
let troubles: SpoolProblem[]
beforeEach(async () => {
  folder = testFolder()
  troubles = []
})

const open = (bytesMax = 64 * MIB) =>
  openSpool({ folder, bytesMax, onTrouble: (trouble) => troubles.push(trouble) })

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => queued(7, from + index))

test('results are read in the order of their addition, by this process and the next, until they are removed', async () => {
  const spool = await open()
  await spool.add(numbered(0, 3))
  await spool.close()

  const next = await open()
  const count = next.count
  const first = await next.oldest()
  await next.add(numbered(3, 5))
  await next.forget()
  const second = await next.oldest()
  await next.forget()

  expect(count).toBe(3)
  expect([first, second]).toEqual([numbered(0, 3), numbered(3, 5)])
  expect([await next.oldest(), next.count, next.dropped, troubles]).toEqual([[], 0, 0, []])
})

test('damaged or truncated lines are skipped and reported with their place, and nothing else is lost', async () => {
  const spool = await open()
  await spool.add(numbered(0, 4))
  await spool.close()
  const file = join(folder, '0000000001.jsonl')
  const lines = (await readFile(file, 'utf8')).split('\n')
  lines[1] = lines[1]?.replace('200', '201') ?? ''
  lines[3] = lines[3]?.slice(0, 40) ?? ''
  await writeFile(file, lines.join('\n'))

  const next = await open()
  const results = await next.oldest()

  expect(results).toEqual([queued(7, 0), queued(7, 2)])
  expect(troubles).toEqual([
    { file, line: 2, reason: 'the line is damaged', results: 1 },
    { file, line: 4, reason: 'the line is damaged', results: 1 },
  ])
  expect(next.dropped).toBe(2)
})

test('a file that is not a spool file does not stop the agent', async () => {
  await writeFile(join(folder, '0000000001.jsonl'), Buffer.from([0xff, 0x00, 0x0a, 0x7b]))
  await writeFile(join(folder, 'notes.txt'), 'not ours')
  const spool = await open()
  await spool.add(numbered(0, 1))

  expect(await spool.oldest()).toEqual(numbered(0, 1))
  expect(await readdir(folder)).toContain('notes.txt')
})

test('a folder named like a spool file is reported and left alone, and later results go to other files', async () => {
  const file = join(folder, '0000000003.jsonl')
  await mkdir(file)
  const spool = await open()
  await spool.add(numbered(0, 1))

  expect(await spool.oldest()).toEqual(numbered(0, 1))
  await spool.forget()
  expect(troubles).toEqual([{ file, reason: 'it is a folder: name a file', results: 0 }])
  expect(await readdir(folder)).toEqual(['0000000003.jsonl', 'lock'])
})

test('a file that cannot be read is reported and left alone, and the results of later files follow', async () => {
  const spool = await open()
  await spool.add(numbered(0, 2))
  await spool.oldest()
  await spool.add(numbered(2, 3))
  const file = join(folder, '0000000001.jsonl')
  await rm(file)
  await symlink(file, file)

  expect(await spool.oldest()).toEqual(numbered(2, 3))
  await spool.forget()
  expect(troubles).toEqual([{ file, reason: 'its symbolic links are circular', results: 2 }])
  expect(await readdir(folder)).toEqual(['0000000001.jsonl', 'lock'])
})

test('a folder that cannot be created is refused, below /proc too', async () => {
  await expect(openSpool({ folder: '/proc/x/y', bytesMax: 1_000, onTrouble: () => {} })).rejects.toThrow(
    'ENOENT',
  )
})

test('a full spool drops its oldest file, and counts the lost results', async () => {
  const spool = await open(9 * MIB)
  const part = 20_000

  for (let from = 0; from < 5 * part; from += part) await spool.add(numbered(from, from + part))
  const oldest = await spool.oldest()

  expect(spool.dropped).toBeGreaterThan(0)
  expect(oldest[0]?.row[2]).toBe(spool.dropped)
  expect(spool.count + spool.dropped).toBe(5 * part)
})

test('a small spool stays within its size, and drops only a part of it at a time', async () => {
  const bytesMax = 80 * 1_024
  const spool = await open(bytesMax)

  for (let from = 0; from < 4_000; from += 10) await spool.add(numbered(from, from + 10))
  const sizes = await Promise.all(
    (await readdir(folder)).filter((name) => name !== 'lock').map((name) => stat(join(folder, name))),
  )
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0)

  expect(bytes).toBeLessThanOrEqual(bytesMax)
  expect(bytes).toBeGreaterThan(bytesMax / 2)
})

test('a folder used by another agent is refused, and the folder of a dead agent is not', async () => {
  const lock = join(folder, 'lock')
  // The process that runs the tests' own.
  await writeFile(lock, String(process.ppid))

  await expect(open()).rejects.toThrow(`used by the agent with process id ${process.ppid}`)
  await writeFile(lock, '2147483646')
  await (await open()).close()

  expect(await readdir(folder)).toEqual([])
})

test.each([
  ['is empty after a power cut', ''],
  ['names a program that got the id of the agent after a restart', `${process.ppid} 1`],
])('a folder whose lock %s can be used', async (_what, text) => {
  await writeFile(join(folder, 'lock'), text)

  const spool = await open()

  await expect(readFile(join(folder, 'lock'), 'utf8')).resolves.toMatch(
    new RegExp(`^${process.pid}( \\d+)?$`),
  )
  await spool.close()
})

test('results that the server refuses are quarantined, at most one mebibyte of them', async () => {
  const spool = await open()

  for (let index = 0; index < 4_000; index += 1) await spool.putAside(queued(7, index), 'x'.repeat(300))
  const text = await readFile(join(folder, 'refused.jsonl'), 'utf8')

  expect(JSON.parse(text.split('\n')[0] ?? '')).toEqual({ reason: 'x'.repeat(300), result: queued(7, 0) })
  expect(text.length).toBeLessThanOrEqual(MIB)
})
