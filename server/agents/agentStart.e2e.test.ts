import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { startAgentProcess } from '../testing/agentProcess.ts'
import { freePort } from '../testing/freePort.ts'

test('an agent that cannot start says why, and shows no token', async () => {
  const folder = testFolder()
  writeFileSync(join(folder, 'token'), `pharos_agent_${'1a'.repeat(32)}`)
  const tokenFile = ['--token-file', join(folder, 'token')]
  const wrong = join(folder, 'wrong')
  writeFileSync(wrong, 'pharos_agent_123')
  const failures = [
    [
      ['--server', 'http://pharos.example:7443', ...tokenFile],
      'would expose the token on the network: use https',
    ],
    [['--server', 'https://pharos.example:7443'], 'no token: give --token-file, or PHAROS_AGENT_TOKEN'],
    [['--server', 'https://pharos.example', '--token-file', wrong], 'contains no agent token'],
    [
      ['--server', 'https://pharos.example', ...tokenFile, '--ca-file', '/nowhere'],
      '/nowhere cannot be read (ENOENT): check --ca-file',
    ],
    [
      ['--server', 'https://pharos.example', ...tokenFile, '--ca-file', wrong],
      `${wrong} holds no certificate (PEM): check --ca-file`,
    ],
    [['--server', 'https://pharos.example', ...tokenFile, '--allow-ranges', 'everything'], 'everything'],
    [['--server', 'pharos.example'], 'is not a URL'],
    [
      ['--server', 'https://pharos.example', ...tokenFile, '--spool', join(wrong, 'spool')],
      'cannot be used: a part of its path is a file',
    ],
  ] as const

  const outcomes = await Promise.all(
    failures.map(async ([args]) => {
      const agent = startAgentProcess(args)
      return { code: await agent.exited, output: agent.output() }
    }),
  )

  for (const [index, { code, output }] of outcomes.entries()) {
    expect([code, output]).toEqual([1, expect.stringContaining(failures[index]?.[1] ?? '')])
    expect(output).not.toContain('pharos_agent_1')
  }
})

test('an agent whose output cannot be written runs until it is stopped', async () => {
  const port = await freePort()
  const agent = startAgentProcess(['--server', 'http://127.0.0.1:1', '--metrics-port', String(port)], {
    environment: { PHAROS_AGENT_TOKEN: `pharos_agent_${'1a'.repeat(32)}` },
    under: ['sh', '-c', 'exec "$0" "$@" >/dev/full 2>/dev/full'],
  })
  const isUp = async (): Promise<boolean> => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    return response.ok
  }

  await vi.waitUntil(() => agent.child.exitCode !== null || isUp().catch(() => false), { timeout: 30_000 })

  expect(agent.child.exitCode).toBe(null)
  // By then it has logged that it stops.
  expect(await agent.stop()).toBe(0)
})
