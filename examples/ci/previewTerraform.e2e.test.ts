import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cannotRunTerraform } from '../../provider/testing/terraformWorkspace.ts'
import { EXIT } from '../../reconciler/run/exitCode.ts'
import { STOP } from './testing/gitlab.ts'
import { openRecipe } from './testing/shop.ts'
import { openTerraformShop, type TerraformShop } from './testing/terraformShop.ts'

const SECRET = 'canary-90b2'
const GITHUB = ['pull_request opened', 'pull_request_target closed'] as const
const GITLAB = ['merge_request_event', STOP] as const

let opened: TerraformShop
beforeEach(async () => {
  opened = await openTerraformShop()
})
afterEach(() => opened.close())

test.skipIf(cannotRunTerraform).each([
  ['preview-terraform-github.yml', ...GITHUB],
  ['preview-terraform-gitlab.yml', ...GITLAB],
  ['preview-cdktf-github.yml', ...GITHUB],
  ['preview-cdktf-gitlab.yml', ...GITLAB],
])(
  '%s: a pull request gets a workspace of its own for its preview, which is removed with it',
  // Some twenty runs of terraform, one after the other.
  { timeout: 400_000 },
  async (file, changed, closed) => {
    const { shop, page, served, local } = opened
    const secrets = {
      ...{ PROBE_TOKEN: SECRET, TF_VAR_probe_token: SECRET, PAGE_AUTHORIZATION: SECRET },
      PHAROS_API_KEY: 'of production',
      PHAROS_PREVIEW_API_KEY: shop.server.apiKey,
    }
    const recipe = await openRecipe(shop, file, secrets, local)
    const run = (event: string) => recipe.run(event, served.terraformEnvironment)
    const workspaces = join(shop.folder, 'workspaces')

    const first = await run(changed)
    expect(recipe.exitCodesOf(first), JSON.stringify(first)).toEqual({ preview: 0 })
    const [service] = (await shop.client.listServices()).services
    expect(service?.endpoints[0]?.url).toBe(page.url('/'))
    expect(page.visits('/').length).toBe(1)
    expect(readdirSync(workspaces)).toEqual(['preview-7'])

    page.status = 500
    expect(recipe.exitCodesOf(await run(changed))).toEqual({ preview: EXIT.checksFailed })

    const last = await run(closed)
    expect(Object.values(recipe.exitCodesOf(last)), JSON.stringify(last)).toEqual([0])
    expect((await shop.client.listServices()).services).toEqual([])
    expect(existsSync(join(workspaces, 'preview-7'))).toBe(false)
    expect(JSON.stringify([first, last])).not.toContain(SECRET)
    expect(recipe.ran()).toEqual(recipe.jobs)
    await recipe.platform.close()
  },
)
