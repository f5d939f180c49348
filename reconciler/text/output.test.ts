import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { outputOn, type Streams } from './output.ts'

const ESCAPE = '\u001b['

/** Whether stdout and stderr get anything that terminals obey, with `env`, where `terminals` names the streams that are one. */
function escapesOf(
  env: Streams['env'],
  terminals: readonly ('stdout' | 'stderr')[],
): { readonly stdout: boolean; readonly stderr: boolean } {
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: terminals.includes(name) })
  const [stdout, stderr] = [stream('stdout'), stream('stderr')]
  const output = outputOn({ stdout, stderr, env, cwd: '/' }, 'text')
  output.result(output.paint.red('removed'))
  output.progress('applied 3 of 100')
  output.notice('noticed')
  output.error('failed')
  const written = (from: PassThrough): string => String(from.read() ?? '')
  return {
    stdout: written(stdout).includes(ESCAPE),
    stderr: written(stderr).includes(ESCAPE),
  }
}

const BOTH = ['stdout', 'stderr'] as const
const neither = { stdout: false, stderr: false }

test('colours are decided for each stream by whether it is a terminal', () => {
  expect(escapesOf({ TERM: 'xterm' }, BOTH)).toEqual({ stdout: true, stderr: true })
  expect(escapesOf({ TERM: 'xterm' }, ['stdout'])).toEqual({ stdout: true, stderr: false })
  expect(escapesOf({ TERM: 'xterm' }, ['stderr'])).toEqual({ stdout: false, stderr: true })
  expect(escapesOf({}, [])).toEqual(neither)
})

test('a terminal with TERM=dumb gets plain text', () => {
  expect(escapesOf({ TERM: 'dumb' }, BOTH)).toEqual(neither)
})

test('NO_COLOR disables colours, FORCE_COLOR enables them, and NO_COLOR wins', () => {
  expect(escapesOf({ NO_COLOR: '1' }, BOTH).stdout).toBe(false)
  expect(escapesOf({ NO_COLOR: '' }, BOTH).stdout).toBe(true)
  expect(escapesOf({ FORCE_COLOR: '1' }, [])).toEqual({ stdout: true, stderr: true })
  expect(escapesOf({ FORCE_COLOR: '1', TERM: 'dumb' }, []).stdout).toBe(true)
  for (const FORCE_COLOR of ['0', 'false']) expect(escapesOf({ FORCE_COLOR }, BOTH).stdout).toBe(false)
  expect(escapesOf({ FORCE_COLOR: '1', NO_COLOR: '1' }, BOTH).stdout).toBe(false)
})

/** What stderr gets of progress that comes every four seconds. */
function progressOf(isTTY: boolean, isQuiet: boolean): string {
  let nowMs = 1_000
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const streams = { stdout: new PassThrough(), stderr, env: {}, cwd: '/', nowMs: () => nowMs }
  const output = outputOn(streams, 'json', isQuiet)
  for (let done = 1; done <= 7; done += 1) {
    nowMs += 4_000
    output.progress(`applied ${done} of 7`)
  }
  output.progress('')
  return String(stderr.read() ?? '')
}

test('when stderr is not a terminal, progress is a line about every ten seconds, and none with --quiet', () => {
  expect(progressOf(false, false)).toBe('applied 3 of 7\napplied 6 of 7\n')
  expect(progressOf(false, true)).toBe('')
})

test('on a terminal progress is shown on one line, and not at all with --quiet', () => {
  expect(progressOf(true, false).split(`\r${ESCAPE}K`)).toHaveLength(9)
  expect(progressOf(true, true)).toBe('')
})
