import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cannotRunTerraform } from '../../provider/testing/terraformWorkspace.ts'
import { openRecipe } from './testing/shop.ts'
import { openTerraformShop, type TerraformShop } from './testing/terraformShop.ts'

const SECRET = 'canary-71c0'

/** Both kinds of configuration. */
const CONFIGURATIONS = ['monitoring/main.tf', 'main.ts']

/** A setting of the provider or of Terraform below a job, where the other jobs do not have it. */
const SETTING_OF_A_JOB = /^ {3,}(?:PHAROS|TF)_\w+:/m

let opened: TerraformShop
beforeEach(async () => {
  opened = await openTerraformShop()
})
afterEach(() => opened.close())

test
  .skipIf(cannotRunTerraform)
  .each(['terraform-github.yml', 'terraform-gitlab.yml', 'cdktf-github.yml', 'cdktf-gitlab.yml'])(
  '%s: a plan is a comment that later runs edit, the approved plan is applied, and drift fails at night',
  // Some thirty runs of terraform, one after the other.
  { timeout: 400_000 },
  async (file) => {
    const { shop, served, page } = opened
    const recipe = await openRecipe(
      shop,
      file,
      { PROBE_TOKEN: SECRET, TF_VAR_probe_token: SECRET, PAGE_AUTHORIZATION: SECRET },
      opened.local,
    )
    const { run, exitCodesOf, pullRequest, platform } = recipe
    const first = await run(pullRequest)
    expect(exitCodesOf(first), JSON.stringify(first)).toEqual({ plan: 0 })
    expect(page.visits('/').length).toBe(1)
    expect(platform.comments[1]?.body).toMatch(
      /interval\s+= "2m"[\s\S]*Plan: 1 to add, 0 to change, 0 to destroy\./,
    )

    // All jobs have the settings with which the installed provider ran, so from now on it runs here, which is quicker.
    expect(readFileSync(join(import.meta.dirname, file), 'utf8')).not.toMatch(SETTING_OF_A_JOB)
    const inProcess = served.terraformEnvironment
    const merged = await run('push', inProcess)
    expect(exitCodesOf(merged)).toEqual({ release: 0, apply: 0 })
    const [service] = (await shop.client.listServices()).services
    expect(service?.interval_secs).toBe(120)

    expect(exitCodesOf(await run('schedule', inProcess))).toEqual({ drift: 0 })
    await shop.client.deleteService(service?.id ?? '')
    const night = await run('schedule', inProcess)
    expect(exitCodesOf(night)).toEqual({ drift: 2 })
    expect(night.drift?.output).toContain('1 to add')

    shop.edit(CONFIGURATIONS, 'eu-west-1', 'mars-1')
    const broken = await run(pullRequest, inProcess)
    expect(exitCodesOf(broken)).toEqual({ plan: 1 })
    expect(platform.writes).toEqual([recipe.posted, recipe.edited])
    expect(platform.comments[1]?.body).toContain('mars-1')
    expect(JSON.stringify([platform.comments, first, merged, night, broken])).not.toContain(SECRET)
    expect(recipe.ran()).toEqual(recipe.jobs)
    await platform.close()
  },
)
