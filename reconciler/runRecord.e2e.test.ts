import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { gitCalls } from './testing/gitCalls.ts'
import { type GitRepository, gitRepository } from './testing/gitRepository.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { work } = scene

let repository: GitRepository
beforeEach(() => {
  repository = gitRepository()
})
afterEach(() => repository.remove())

/** Runs `pharos COMMAND` on the manifests of the repository, output relative to it. */
const pharos = (command: string, ...args: readonly string[]) =>
  runHere([command, join(repository.directory, 'monitoring'), '--state', work.statePath, ...args], work.env, {
    cwd: repository.directory,
  })

test('a run of the command line records the commit of its manifests, and whether they differed from it', async () => {
  const first = repository.commit({ 'monitoring/a.yaml': manifestOf('a'), README: 'first' })
  await pharos('apply')
  const second = repository.commit({ README: 'second' })
  work.write({ 'outside.yaml': manifestOf('outside') })
  await pharos('apply')
  repository.git('checkout', '--quiet', '-b', 'work')
  repository.commit({ 'monitoring/b.yaml': manifestOf('b') })
  repository.git('reset', '--quiet', '--soft', 'HEAD~1')
  await pharos('apply')
  await work.run('apply')

  const history = await runHere(['history', '--state', work.statePath, '--json'], work.env)
  const runs: readonly { commitSha: string | null }[] = JSON.parse(history.stdout).runs
  expect(runs.map(({ commitSha }) => commitSha).toReversed()).toEqual([
    first,
    second,
    `${second}-dirty`,
    null,
  ])
})

test('an apply starts git twice in a checkout, and not at all elsewhere', async () => {
  const { path, taken } = gitCalls(testFolder())
  work.env.PATH = path
  repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  work.write({ 'a.yaml': manifestOf('a') })

  await pharos('apply')
  expect(taken()).toEqual(['log', 'status'])
  await work.run('apply')
  expect(taken()).toEqual([])
})

const UNKNOWN = manifestOf('a').replace('eu-west-1', 'eu-west-9')

test('an unknown region is reported at its line, in GitHub and in SARIF', async () => {
  repository.commit({ 'monitoring/a.yaml': UNKNOWN })

  const github = await pharos('plan', '--format', 'github')
  expect(github.stdout).toMatch(
    /^::error file=monitoring\/a\.yaml,line=6,col=13,title=E_VALUE::there is no region eu-west-9 \(did you mean .*\?\)$/m,
  )
  for (const command of ['plan', 'apply']) {
    const sarif = await pharos(command, '--format', 'sarif')
    const results: readonly { ruleId: string }[] = JSON.parse(sarif.stdout).runs[0].results
    const marked = results.filter(({ ruleId }) => ruleId === 'E_VALUE')
    expect(marked, command).toMatchObject([
      {
        ruleId: 'E_VALUE',
        message: { text: expect.stringContaining('there is no region eu-west-9') },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'monitoring/a.yaml' },
              region: { startLine: 6, startColumn: 13 },
            },
          },
        ],
      },
    ])
  }
})

test('a service beyond the plan limit is reported at its name', async () => {
  repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  scene.proxy.refusesWith = () => ({ status: 403, error: 'forbidden' })

  const { stdout } = await pharos('apply', '--format', 'github')

  expect(stdout).toMatch(/^::error file=monitoring\/a\.yaml,line=3,col=18,title=E_LIMIT::/m)
})

test('the summaries of plan and apply count manifests with problems', async () => {
  const wrong = manifestOf('b').replace('interval: 60s', 'interval: 60').replace('https', 'ftp')
  repository.commit({ 'monitoring/a.yaml': manifestOf('a'), 'monitoring/b.yaml': wrong })

  const plan = await pharos('plan')
  const markdown = await pharos('plan', '--format', 'markdown')
  const apply = await pharos('apply')

  expect(plan.stdout).toContain('Plan: 1 to create, 0 unchanged, 1 manifest with problems\n')
  expect(markdown.stdout).toContain('### Plan: 1 to create, 0 unchanged, 1 manifest with problems\n')
  expect(apply.stdout).toContain('Applied: 1 created, 0 unchanged, 1 manifest with problems (')
})
