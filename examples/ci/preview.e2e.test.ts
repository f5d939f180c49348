import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXIT } from '../../reconciler/run/exitCode.ts'
import { serviceRequest } from '../../reconciler/testing/orgScene.ts'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { startTarget, type Target } from '../../server/testing/target.ts'
import { STOP } from './testing/gitlab.ts'
import { openRecipe, openShop, type Shop } from './testing/shop.ts'

const MANIFEST = 'monitoring/website.yaml'
const WEBSITE = `apiVersion: pharos/v1
kind: Service
metadata: {name: website}
spec:
  name: Website
  interval: 60s
  regions: [eu-west-1]
  endpoints: [{url: "http://\${var.host:-shop.example.com}/"}]
policy:
  protect: true
`
/** Its service has the name of the manifest. */
const NEWSLETTER = WEBSITE.replaceAll('website', 'newsletter').replace('  name: Website\n', '')

let page: Target
let shop: Shop
beforeEach(async () => {
  page = await startTarget()
  shop = await openShop((work) => {
    mkdirSync(join(work, 'monitoring'))
    writeFileSync(join(work, MANIFEST), WEBSITE)
  })
})
afterEach(async () => {
  page.close()
  await shop.close()
})

/** The recipe, with the preview on this machine. */
function withLocalPreview(recipe: string): string {
  return recipe
    .replace(/PREVIEW_HOST: .*/, `PREVIEW_HOST: ${new URL(page.url('/')).host}`)
    .replace(/pharos test .*?--env \w+/, '$& --allow-ranges 127.0.0.0/8')
}

/** Names of the refs of the repository. */
function refs(): string {
  return execFileSync('git', ['-C', shop.work, 'ls-remote', 'origin'], { encoding: 'utf8' })
}

test.each([
  [
    'preview-github.yml',
    'pull_request opened',
    'pull_request synchronize',
    'pull_request_target closed',
    'pull_request opened dependabot[bot]',
  ],
  ['preview-gitlab.yml', 'merge_request_event', 'merge_request_event', STOP, 'merge_request_event fork'],
])(
  '%s: a pull request gets services of its own for its preview, which are removed with it',
  // Some twenty processes, one after the other.
  { timeout: 240_000 },
  async (file, opened, changed, closed, withoutSecrets) => {
    const { client } = shop
    const recipe = await openRecipe(
      shop,
      file,
      {
        PHAROS_STATE_KEY: 'ab'.repeat(32),
        SHOP_PROBE_TOKEN: 'unused',
        PHAROS_GIT_TOKEN: 'unused',
        PHAROS_API_KEY: 'of production',
        PHAROS_PREVIEW_API_KEY: shop.server.apiKey,
      },
      withLocalPreview,
    )
    const { run, exitCodesOf } = recipe
    const names = async () => (await client.listServices()).services.map(({ name }) => name).sort()
    const { host } = new URL(page.url('/'))
    // Another pull request has a preview too.
    await client.createService(serviceRequest('Website'), 'other-preview')

    expect(await run(withoutSecrets)).toEqual({})
    const first = await run(opened)
    expect(exitCodesOf(first), JSON.stringify(first)).toEqual({ preview: 0 })
    const { services } = await client.listServices()
    expect(services.find(({ name }) => name === `Website (${host})`)?.endpoints[0]?.url).toBe(page.url('/'))
    expect(page.visits('/').length).toBe(1)
    expect(refs()).toContain('refs/pharos/preview-7')

    writeFileSync(join(shop.work, 'monitoring/newsletter.yaml'), NEWSLETTER)
    shop.push('newsletter')
    expect(exitCodesOf(await run(changed))).toEqual({ preview: 0 })
    expect(await names()).toEqual(['Website', `Website (${host})`, `newsletter (${host})`])

    page.status = 500
    expect(exitCodesOf(await run(changed))).toEqual({ preview: EXIT.checksFailed })

    const last = await run(closed)
    expect(Object.values(exitCodesOf(last)), JSON.stringify(last)).toEqual([0])
    expect(await names()).toEqual(['Website'])
    expect(refs()).not.toContain('refs/pharos')
    expect(recipe.ran()).toEqual(recipe.jobs)
    await recipe.platform.close()
  },
)

test('a preview of more services than an Environment can rename says so, and writes nothing for them', () => {
  const folder = testFolder()
  const many = Array.from({ length: 10_000 }, (_, index) =>
    NEWSLETTER.replace('{name: newsletter}', `{name: n${index}}`),
  )
  for (let part = 0; part < 10; part += 1)
    writeFileSync(
      join(folder, `part-${part}.yaml`),
      many.slice(part * 1_000, (part + 1) * 1_000).join('---\n'),
    )
  const programs = testFolder()
  const pharos = join(programs, 'pharos')
  writeFileSync(pharos, `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/pharos.js')}" "$@"\n`, {
    mode: 0o755,
  })

  const { status, stderr } = spawnSync(
    process.execPath,
    ['examples/ci/preview.mjs', 'pr.example.com', folder],
    {
      encoding: 'utf8',
      env: { PATH: `${programs}:${process.env.PATH}` },
    },
  )

  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(
      'the preview would have 10000 services, each with a patch of its name: an Environment has',
    ),
  ])
})
