import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProviderInProcess, serveInProcess } from '../../../provider/testing/terraformWorkspace.ts'
import { root } from '../../../scripts/readersEnvironment.ts'
import { startTarget, type Target } from '../../../server/testing/target.ts'
import { openShop, type Shop } from './shop.ts'

/** Where both kinds of configuration say how often the page is looked at. */
export const INTERVAL = '2m'

const CONFIGURATION = (folder: string, host: string): string => `terraform {
  backend "local" {
    path          = "${folder}/terraform.tfstate"
    workspace_dir = "${folder}/workspaces"
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

variable "host" {
  type    = string
  default = "${host}"
}

resource "pharos_service" "page" {
  name     = "page"
  interval = "${INTERVAL}"
  regions  = ["eu-west-1"]
  endpoints = [{
    url  = "http://\${var.host}/"
    http = { method = "GET", headers = { Authorization = { value_wo = var.probe_token } } }
  }]
}
`

const PROGRAM = (
  folder: string,
  host: string,
): string => `import { App, LocalBackend, TerraformStack } from 'cdktf'
import { get, MonitoredService, PharosProvider, secretFromEnv } from 'pharos/cdktf'

const app = new App()
const stack = new TerraformStack(app, 'production')
new LocalBackend(stack, { path: '${folder}/terraform.tfstate', workspaceDir: '${folder}/workspaces' })
new PharosProvider(stack, 'pharos')
new MonitoredService(stack, 'page', {
  interval: '${INTERVAL}',
  regions: ['eu-west-1'],
  endpoints: get(\`http://\${process.env['TF_VAR_host'] ?? '${host}'}/\`).secretHeader('Authorization', secretFromEnv('TF_VAR_probe_token')),
})
app.synth()
`

/** A shop with a service in both kinds of configuration, and the page that it checks. */
export interface TerraformShop {
  readonly shop: Shop
  readonly page: Target
  readonly served: ProviderInProcess
  /** A recipe whose checks may reach the page, also as the preview. */
  readonly local: (recipe: string) => string
  readonly close: () => Promise<void>
}

export async function openTerraformShop(): Promise<TerraformShop> {
  const page = await startTarget()
  const { host } = new URL(page.url('/'))
  const shop = await openShop((work, folder) => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/pharos'))
    for (const name of ['cdktf', 'constructs']) {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
    mkdirSync(join(work, 'monitoring'))
    writeFileSync(join(work, 'monitoring/main.tf'), CONFIGURATION(folder, host))
    writeFileSync(join(work, 'main.ts'), PROGRAM(folder, host))
  })
  const served = await serveInProcess({
    PHAROS_URL: shop.server.url,
    PHAROS_API_KEY: shop.server.apiKey,
    XDG_STATE_HOME: shop.folder,
  })
  return {
    shop,
    page,
    served,
    local: (recipe) =>
      recipe
        .replace(/TF_VAR_host: .*/, `TF_VAR_host: ${host}`)
        .replace('pharos test checks', '$& --allow-ranges 127.0.0.0/8'),
    close: () => {
      served.close()
      page.close()
      return shop.close()
    },
  }
}
