import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { githubMachine } from './testing/github.ts'
import { bash } from './testing/job.ts'
import { startPlatform } from './testing/platform.ts'

/** Characters of a comment that GitHub takes. */
const COMMENT_LENGTH_MAX = 65_536

let folder: string
beforeEach(() => {
  folder = testFolder()
})

test('a plan longer than a comment is truncated at a line, and its block is closed', async () => {
  const list = '/repos/acme/shop/issues/7/comments'
  const platform = await startPlatform(list, '/repos/acme/shop/issues/comments')
  const line = '  + resource "pharos_service" "page" {\n'
  writeFileSync(join(folder, 'plan.md'), `~~~~\n${line.repeat(3_000)}~~~~\n`)
  const script = `node "${join(import.meta.dirname, 'comment.mjs')}" plan.md production`

  const { exitCode, output } = await bash(script, folder, {
    ...process.env,
    ...githubMachine(folder, platform.url),
    GITHUB_TOKEN: 'platform-token',
  })
  await platform.close()

  expect(exitCode, output).toBe(0)
  const body = platform.comments[1]?.body ?? ''
  expect(body.length).toBeLessThan(COMMENT_LENGTH_MAX)
  expect(body).toMatch(
    /\n {2}\+ resource "pharos_service" "page" \{\n~~~~\n\nThe rest was cut: \d+ more characters\.\n$/,
  )
})
