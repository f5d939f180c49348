import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'

const scene = new CommandScene(startServer)
const { json, work } = scene

test('a plan limit names the line of the manifest that exceeds it, for a creation and for a change', async () => {
  await scene.server.overrideLimits({ intervalSecsMin: 60 }, scene.orgId)
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b').replace('60s', '30s') })

  const created = await work.run('apply')
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '30s'), 'b.yaml': manifestOf('b') })
  const changed = await work.run('apply')

  const words = 'plan limit: interval_secs must be at least 60'
  expect(created.stdout).toMatch(
    new RegExp(`^  x b: create failed: ${words} .*\\n      at \\S*b\\.yaml:5:13$`, 'm'),
  )
  expect(changed.stdout).toMatch(
    new RegExp(`^  x a: update failed: ${words} .*\\n      at \\S*a\\.yaml:5:13$`, 'm'),
  )
})

test('a manifest that exceeds a plan limit by itself does not prevent the creation of others', async () => {
  await scene.server.overrideLimits({ intervalSecsMin: 60, serviceEndpointsMax: 1 }, scene.orgId)
  const good = Array.from({ length: 12 }, (_, index) => `good-${index}`)
  const [interval, endpoints] = ['a-interval', 'b-endpoints']
  work.write({
    ...Object.fromEntries(good.map((name) => [`${name}.yaml`, manifestOf(name)])),
    [`${interval}.yaml`]: manifestOf(interval).replace('60s', '30s'),
    [`${endpoints}.yaml`]: manifestOf(endpoints, '    - url: https://second.example.com/\n'),
  })

  const { applied, outcomes } = await json('apply')

  expect(applied).toMatchObject({ created: good.length, failed: 2 })
  const failed = outcomes.filter(({ result }: { result: string }) => result !== 'done')
  expect(failed.map(({ key, result, line }: Record<string, unknown>) => [key, result, line]).sort()).toEqual([
    [interval, 'failed', 5],
    [endpoints, 'failed', 8],
  ])
  expect(await scene.names()).toEqual(good.sort())
})

const HEADERS = '      headers: {accept: text/html, x-shop: example}\n'

test.each([
  ['endpoints[0].url: must be shorter', HEADERS, 8, 12],
  ['endpoints[0].call.Http.headers.x-shop: is not allowed', HEADERS, 9, 44],
  ['regions[0]: is not a region', '', 6, 13],
  ['name: must be unique', '', 3, 18],
  ['body: must be smaller', '', 3, 18],
])(
  'a response with status 400 (%s) is reported at the line of the manifest',
  async (error, more, line, column) => {
    work.write({ 'a.yaml': manifestOf('a', more) })
    scene.proxy.refusesWith = (method) => (method === 'POST' ? { status: 400, error } : undefined)

    const { outcomes } = await json('apply')
    const github = await work.run('apply', '--format', 'github')

    const place = { file: expect.stringMatching(/a\.yaml$/), line, column }
    expect(outcomes).toMatchObject([{ result: 'failed', message: `${error} (status 400)`, ...place }])
    const marked = [
      ...github.stdout.matchAll(/^::error file=\S*a\.yaml,line=(\d+),col=(\d+),title=E_VALUE::/gm),
    ]
    expect(marked.map(([, ...at]) => at.map(Number))).toEqual(
      error.startsWith('body') ? [] : [[line, column]],
    )
  },
)
