import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { cliConfiguration, requiredProviders } from './distribution/instructions.ts'
import { installIntoMirror, platformName } from './distribution/mirror.ts'

const { version } = packageJson

/** Lays out the mirror and prints what to put where. Throws with a sentence for the user when it cannot. */
function install(options: { readonly mirror: string; readonly json?: true }): void {
  const platform = platformName(process.platform, process.arch)
  if (platform === undefined) {
    throw new Error(
      `the provider is a script that Node runs, which Terraform cannot start on ${process.platform}`,
    )
  }
  const executable = join(dirname(fileURLToPath(import.meta.url)), 'terraform-provider-pharos.cjs')
  if (!existsSync(executable)) throw new Error(`${executable} is not there: run "npm run build" first`)
  const mirror = resolve(options.mirror)
  const files = installIntoMirror({ executable, mirror, version, platform })
  if (options.json === true) {
    const document = {
      version,
      platform,
      mirror,
      files,
      cli_configuration: cliConfiguration(mirror),
      required_providers: requiredProviders(version),
    }
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return
  }
  process.stdout.write(`installed version ${version} for ${platform}:
${files.map((file) => `  ${file}`).join('\n')}

Put this into your CLI configuration (~/.terraformrc, ~/.tofurc, or the file that TF_CLI_CONFIG_FILE names):

${cliConfiguration(mirror)}
and this into your configuration:

${requiredProviders(version)}`)
}

const program = new Command('pharos-provider')
  .description('Installs the Terraform provider "pharos".')
  .version(version)
  .showHelpAfterError('(see pharos-provider --help)')

program
  .command('install')
  .description('lay out a filesystem mirror for Terraform and OpenTofu, and print how to use it')
  .requiredOption('--mirror <dir>', 'folder below which the provider is laid out; made when it is not there')
  .option('--json', 'print one JSON document instead of text')
  .addHelpText('after', '\nExample:\n  pharos-provider install --mirror ~/.terraform.d/mirror')
  .action(install)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`pharos-provider: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
