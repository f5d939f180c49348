import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { emptyDocument } from '../state/model/stateDocument.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { neverInterrupted } from '../testing/programHere.ts'
import { runProgram } from './program.ts'

const folder = suiteFolder()
beforeAll(() => {
  for (let index = 0; index < 40; index += 1)
    writeFileSync(join(folder, `s${index}.yaml`), manifestOf(`s${index}`))
  const bindings = ['a', 'b', 'c'].map((key) => ({
    key,
    serviceId: `id-${key}`,
    desired: null,
    observed: null,
    paused: null,
    onDelete: 'delete',
    protect: false,
    pruneAfterSecs: null,
    tombstonedAtMs: null,
    heals: [],
  }))
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...emptyDocument('s'), bindings }))
})

/** The stderr of a command whose clock advances by six seconds at each look. */
async function saidBy(...args: readonly string[]): Promise<string> {
  let nowMs = 0
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = text(stderr)
  stdout.resume()
  const clock = () => {
    nowMs += 6_000
    return nowMs
  }
  const streams = { stdout, stderr, env: {}, cwd: '/', nowMs: clock }
  await runProgram(['node', 'pharos', ...args], streams, neverInterrupted)
  stderr.end()
  return said
}

test.each(['validate', 'render', 'fmt'])(
  '%s reports its progress without a terminal, and nothing with --quiet',
  async (command) => {
    const path = folder

    expect(await saidBy(command, path)).toMatch(/^(?:(?:read|compiled) \d+ of 40 (?:files|manifests)\n)+$/)
    expect(await saidBy(command, path, '--quiet')).toBe('')
  },
)

test('the import of a state shows its progress', async () => {
  const place = (name: string) => ['--state', join(folder, name)]

  expect(await saidBy('state', 'import', join(folder, 'state.json'), ...place('a.db'))).toMatch(
    /imported \d of 3 services\n/,
  )
  expect(await saidBy('state', 'import', join(folder, 'state.json'), ...place('b.db'), '--quiet')).toBe('')
})
