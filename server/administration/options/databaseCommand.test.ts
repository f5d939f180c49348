import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { runHere } from '../../testing/commandHere.ts'
import { freePort } from '../../testing/freePort.ts'

const ID = '0192b1d4-5c1e-7000-8000-00000000000b'
const TIMES = ['--starts-at', '2030-01-02T00:00:00Z', '--ends-at', '2030-01-01T00:00:00Z']
const CHANNEL = ['--kind', 'webhook', '--name', 'x']

test.each([
  [
    ['maintenance', 'create', '--org', ID, '--title', 'x', '--service', ID, ...TIMES],
    '--ends-at must be after',
  ],
  [['channel', 'create', '--org', ID, ...CHANNEL], 'name either --url or --url-file'],
  [['channel', 'update', '--id', ID], 'name what to change'],
  [['channel', 'resend', '--id', ID], 'name a delivery by --delivery'],
  [['region', 'set', 'nowhere', '--mode', 'off'], 'there is no region nowhere'],
  [['status-page', 'create', '--org', ID, '--slug', 'shop', '--title', 'x'], '--service is missing'],
  [['status-page', 'update', '--id', ID], 'give at least one setting to change'],
  [['org', 'auto-incidents', '--org', ID, '--threshold', '0'], 'threshold'],
  [['service', 'auto-incidents', '--org', ID, '--all', '--threshold', '0'], 'threshold'],
])('%j is refused before the database is opened', async (args, message) => {
  const { code, stderr } = await runHere([...args, '--data-dir', join(testFolder(), 'none')])

  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
})

test.each([
  [['--status-url', 'https://status.example.org'], '--status-url needs --status-port'],
  [['--agent-port', '0', '--monitor', 'off'], '--agent-port needs --monitor on'],
  [['--console-port', '0', '--console-url', 'http://console.example.org'], 'must be https'],
])('serve %j is refused before a database that does not respond is awaited', async (args, message) => {
  const database = `postgresql://user@127.0.0.1:${await freePort()}/pharos`

  const { code, stderr } = await runHere(['serve', '--database', database, ...args], {
    environment: { PHAROS_MASTER_KEY: 'a'.repeat(64) },
  })

  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
})
