import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { runHere } from '../../testing/commandHere.ts'
import { makeOrg } from '../../testing/seedFolder.ts'
import { PROGRAM } from '../../testing/serverProcess.ts'
import { failureOf } from './failure.ts'

const folder = suiteFolder()
beforeAll(async () => {
  await makeOrg(join(folder, 'data'))
  await mkdir(join(folder, 'nothing'))
  await writeFile(join(folder, 'file'), 'x'.repeat(10_000))
  await writeFile(join(folder, 'nothing', 'control.db'), 'x'.repeat(10_000))
})

test.each([
  [
    ['org', 'list', '--data-dir', 'absent'],
    'E_FAILED',
    'there is no data in absent: correct the folder or the URL',
  ],
  [['org', 'create', '--data-dir', 'file', '--name', 'x'], 'E_FILE', 'file cannot be a folder'],
  [['org', 'list', '--data-dir', 'nothing'], 'E_DATABASE', 'restore a backup'],
  [['key', 'list', '--data-dir', 'data', '--org', 'x'], 'E_NOT_FOUND', 'there is no organisation x'],
  [['audit', 'list', '--data-dir', 'data', '--org', 'x'], 'E_NOT_FOUND', 'there is no organisation x'],
  [
    ['key', 'revoke', '--data-dir', 'data', '--id', 'x'],
    'E_NOT_FOUND',
    '"pharos-server key list" shows them',
  ],
  [['agent', 'revoke', '--data-dir', 'data', '--id', 'x'], 'E_NOT_FOUND', '"pharos-server agent list" shows'],
  [
    ['channel', 'test', '--data-dir', 'data', '--id', 'x'],
    'E_NOT_FOUND',
    '"pharos-server channel list" shows',
  ],
  [['person', 'reset', '--data-dir', 'data', '--email', 'a@b.example'], 'E_NOT_FOUND', 'member list" shows'],
  [['backup', '--data-dir', 'data', '--to', 'nowhere/x'], 'E_FAILED', 'create it, or use another one'],
  [['states', '--data-dir', 'data', '--org', 'x'], 'E_NOT_FOUND', 'there is no organisation x'],
  [['results', '--data-dir', 'data', '--service', 'x'], 'E_NOT_FOUND', 'there is no service x'],
  [['maintenance', 'list', '--data-dir', 'data', '--org', 'x'], 'E_NOT_FOUND', 'there is no organisation x'],
  [
    ['maintenance', 'create', '--data-dir', 'data', '--starts-at', '2026-02-30T00:00:00Z'],
    'E_USAGE',
    "'2026-02-30T00:00:00Z' is invalid. must be an instant",
  ],
  [
    ['maintenance', 'create', '--data-dir', 'data', '--starts-at', '2026-03-01T22:00:00'],
    'E_USAGE',
    "'2026-03-01T22:00:00' is invalid. must be an instant",
  ],
  [
    ['channel', 'resend', '--data-dir', 'data', '--since', '2026-02-30T00:00:00Z'],
    'E_USAGE',
    "'2026-02-30T00:00:00Z' is invalid. must be an instant",
  ],
  [['restore', '--data-dir', 'made', '--from', 'data'], 'E_FILE', 'data is a folder: name a file'],
  [['restore', '--data-dir', 'made', '--from', 'file'], 'E_FAILED', 'file is not a backup: name a file'],
  [['org', 'make', '--data-dir', 'data'], 'E_USAGE', "unknown command 'make'"],
  [['org', 'create', '--data-dir', 'data'], 'E_USAGE', "required option '--name <name>' not specified"],
])(
  '%j --json fails with one JSON document of %s, and with a message on stderr',
  async (args, code, words) => {
    const { stdout, stderr, ...outcome } = await runHere([...args, '--json'], { cwd: folder })

    expect(outcome.code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({ error: { code, message: expect.stringContaining(words) } })
    expect(stderr).toContain(words)
    expect(await readdir(folder)).not.toContain('made')
  },
)

test.each([
  [['--host', '192.0.2.1'], 'this machine has no address 192.0.2.1: use another --host'],
  [['--host', 'nobody.invalid'], 'the host nobody.invalid has no address: use another --host'],
  [
    ['--admin-host', '192.0.2.1', '--admin-port', '0'],
    'this machine has no address 192.0.2.1: use another --admin-host',
  ],
])('serve with %j fails with a remedy', async (args, words) => {
  const { code, stderr } = await runHere(['serve', '--data-dir', 'data', '--port', '0', ...args], {
    cwd: folder,
  })

  expect([code, stderr]).toEqual([1, `pharos-server: ${words}\n`])
})

test.each([
  [['serve', '--data-dir', 'made', '--host', ''], 'must not be empty'],
  [['serve', '--data-dir', 'made', '--master-key-file', ''], 'must not be empty'],
  [['serve', '--data-dir', ''], 'must not be empty'],
  [['serve', '--data-dir', 'made', '--allow-ranges', '10.0.0.0'], '"10.0.0.0" is not an address range'],
  [['serve', '--data-dir', 'made', '--allow-ranges', ''], "option '--allow-ranges <ranges>'"],
  [['serve', '--data-dir', 'made', '--port', '0', '--master-key-file', 'nowhere/key'], 'there is no '],
  [['serve', '--data-dir', 'made', '--port', '0', '--master-key-file', 'made/key'], 'is in the data folder'],
  [['plan', 'list', '--data-dir', 'made'], 'there is no data in made'],
])('%j fails and leaves nothing behind', async (args, words) => {
  const { code, stderr } = await runHere(args, { cwd: folder })

  expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
  expect((await readdir(folder)).filter((name) => name.startsWith('made'))).toEqual([])
})

test('a lack of file descriptors is not blamed on a port', () => {
  const error = Object.assign(new Error('listen EMFILE 127.0.0.1:7172'), {
    code: 'EMFILE',
    syscall: 'listen',
  })

  expect(failureOf(error).message).toContain('this process has no free file descriptors: raise their limit')
})

test('a failed write to stdout is an error of one line', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'org', 'list', '--data-dir', 'data'], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    cwd: folder,
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await once(child, 'close')

  expect(child.exitCode).toBe(1)
  expect(stderr).toMatch(/^pharos-server: stdout cannot be written \(ENOSPC.*\): redirect it elsewhere\n$/)
})
