import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { findTerraform, openTerraformDirectory } from '../protocol/testing/terraformCli.ts'
import { cliConfiguration, requiredProviders } from './instructions.ts'
import { installIntoMirror, platformName } from './mirror.ts'

const ownPlatform = platformName(process.platform, process.arch) ?? ''

test('a mirror has the executable for the registries of Terraform and of OpenTofu', () => {
  const root = testFolder()
  const executable = join(root, 'program')
  const mirror = join(root, 'mirror')
  writeFileSync(executable, 'bytes')

  const files = installIntoMirror({ executable, mirror, version: '1.2.3', platform: 'linux_amd64' })

  expect(files.map((file) => relative(mirror, file))).toEqual([
    'registry.terraform.io/pharos/pharos/1.2.3/linux_amd64/terraform-provider-pharos_v1.2.3.cjs',
    'registry.opentofu.org/pharos/pharos/1.2.3/linux_amd64/terraform-provider-pharos_v1.2.3.cjs',
  ])
  for (const file of files) {
    expect(statSync(file).mode & 0o777).toBe(0o755)
    expect(readFileSync(file, 'utf8')).toBe('bytes')
  }
})

test('a mirror for Windows has an executable that Terraform starts on Windows', () => {
  const root = testFolder()
  const executable = join(root, 'program')
  writeFileSync(executable, 'bytes')

  const [file = ''] = installIntoMirror({
    executable,
    mirror: root,
    version: '1.2.3',
    platform: 'windows_amd64',
  })

  expect(relative(root, file)).toBe(
    'registry.terraform.io/pharos/pharos/1.2.3/windows_amd64/terraform-provider-pharos_v1.2.3.exe',
  )
})

test('installing again replaces the program and leaves nothing else behind', () => {
  const root = testFolder()
  const executable = join(root, 'program')
  const installation = { executable, mirror: join(root, 'mirror'), version: '1.2.3', platform: 'linux_arm64' }
  writeFileSync(executable, 'old')
  installIntoMirror(installation)
  writeFileSync(executable, 'new')

  const [file = ''] = installIntoMirror(installation)

  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(readdirSync(join(file, '..'))).toEqual(['terraform-provider-pharos_v1.2.3.cjs'])
})

test.each([
  ['linux', 'x64', 'linux_amd64'],
  ['darwin', 'arm64', 'darwin_arm64'],
  ['win32', 'x64', 'windows_amd64'],
  ['linux', 'riscv64', undefined],
])('%s on %s is %s to Terraform', (platform, arch, name) => {
  expect(platformName(platform, arch)).toBe(name)
})

describe.skipIf(findTerraform() === undefined)('terraform', () => {
  test('finds the provider by the CLI configuration, whatever the folder is called', async () => {
    const odd = join('a "quoted" one', ['$', '{c}%{d} ü'].join(''))
    const executable = join(testFolder(), 'program')
    writeFileSync(executable, 'bytes')
    const terraform = openTerraformDirectory({
      install: (mirror) => {
        const installation = { executable, version: '1.2.3', platform: ownPlatform }
        installIntoMirror({ ...installation, mirror: join(mirror, odd) })
        return cliConfiguration(join(mirror, odd))
      },
    })
    onTestFinished(() => terraform.remove())
    terraform.configure(requiredProviders('1.2.3'))

    const { exitCode, stdout, stderr } = await terraform.run('init')

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('Installed pharos/pharos v1.2.3')
  })
})

test('the requirement pins the version that was installed', () => {
  expect(requiredProviders('1.2.3')).toBe(`terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source  = "pharos/pharos"
      version = "1.2.3"
    }
  }
}
`)
})
