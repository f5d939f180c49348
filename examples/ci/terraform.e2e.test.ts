import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  cannotRunTerraform,
  type ProviderInProcess,
  serveInProcess,
} from '../../provider/testing/terraformWorkspace.ts'
import { root } from '../../scripts/readersEnvironment.ts'
import { openRecipe, openShop, type Shop } from './testing/shop.ts'

const SECRET = 'canary-71c0'

/** Where both kinds of configuration say how often the page is looked at. */
const INTERVAL = '2m'

const CONFIGURATION = (state: string): string => `terraform {
  backend "local" {
    path = "${state}"
  }
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

variable "probe_token" {
  type      = string
  ephemeral = true
}

resource "pharos_service" "page" {
  name     = "page"
  interval = "${INTERVAL}"
  regions  = ["eu-west-1"]
  endpoints = [{
    url  = "https://www.example.com/"
    http = { method = "GET", headers = { Authorization = { value_wo = var.probe_token } } }
  }]
}
`

const PROGRAM = (state: string): string => `import { App, LocalBackend, TerraformStack } from 'cdktf'
import { get, MonitoredService, PharosProvider, secretFromEnv } from 'pharos/cdktf'

const app = new App()
const stack = new TerraformStack(app, 'production')
new LocalBackend(stack, { path: '${state}' })
new PharosProvider(stack, 'pharos')
new MonitoredService(stack, 'page', {
  interval: '${INTERVAL}',
  regions: ['eu-west-1'],
  endpoints: get('https://www.example.com/').secretHeader('Authorization', secretFromEnv('TF_VAR_probe_token')),
})
app.synth()
`

/** Both kinds of configuration. */
const CONFIGURATIONS = ['monitoring/main.tf', 'main.ts']

/** A setting of the provider or of Terraform below a job, where the other jobs do not have it. */
const SETTING_OF_A_JOB = /^ {3,}(?:PHAROS|TF)_\w+:/m

let shop: Shop
let served: ProviderInProcess
beforeEach(async () => {
  shop = await openShop((work, folder) => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/pharos'))
    for (const name of ['cdktf', 'constructs']) {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
    mkdirSync(join(work, 'monitoring'))
    const state = join(folder, 'terraform.tfstate')
    writeFileSync(join(work, 'monitoring/main.tf'), CONFIGURATION(state))
    writeFileSync(join(work, 'main.ts'), PROGRAM(state))
  })
  served = await serveInProcess({
    PHAROS_URL: shop.server.url,
    PHAROS_API_KEY: shop.server.apiKey,
    XDG_STATE_HOME: shop.folder,
  })
})
afterEach(() => {
  served.close()
  return shop.close()
})

test
  .skipIf(cannotRunTerraform)
  .each(['terraform-github.yml', 'terraform-gitlab.yml', 'cdktf-github.yml', 'cdktf-gitlab.yml'])(
  '%s: a plan is a comment that later runs edit, the approved plan is applied, and drift fails at night',
  // Some thirty runs of terraform, one after the other.
  { timeout: 400_000 },
  async (file) => {
    const recipe = await openRecipe(shop, file, { PROBE_TOKEN: SECRET, TF_VAR_probe_token: SECRET })
    const { run, exitCodesOf, pullRequest, platform } = recipe
    const opened = await run(pullRequest)
    expect(exitCodesOf(opened), JSON.stringify(opened)).toEqual({ plan: 0 })
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
    expect(JSON.stringify([platform.comments, opened, merged, night, broken])).not.toContain(SECRET)
    expect(recipe.ran()).toEqual(recipe.jobs)
    await platform.close()
  },
)
