import { execFileSync } from 'node:child_process'
import { closeSync, constants, createReadStream, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { testFolder } from '../testing/temporaryFolder.ts'
import { stderrLog } from './stderrLog.ts'

test('a log that nothing reads stops no program, keeps the oldest lines, and says how many it lost', async () => {
  const pipe = join(testFolder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  // Opened for both, so that opening waits for no reader.
  const descriptor = openSync(pipe, constants.O_RDWR)
  const log = stderrLog(descriptor)
  const line = (index: number): string => `${JSON.stringify({ index, text: 'a'.repeat(1_000) })}\n`

  for (let index = 0; index < 3_000; index += 1) log.write(line(index))
  const read: unknown[] = []
  for await (const text of createInterface({ input: createReadStream(pipe) })) {
    read.push(JSON.parse(text))
    if (text.includes('were lost')) break
  }
  closeSync(descriptor)

  const kept = read.slice(0, -1)
  expect(kept.length).toBeGreaterThan(1_000)
  expect(kept).toEqual(kept.map((_, index) => JSON.parse(line(index))))
  expect(read.at(-1)).toMatchObject({ level: 40, lines: 3_000 - kept.length })
})
