import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { fileErrorText, isFileError } from '../api/runtime/fileReason.ts'
import { StrictCommand } from '../api/runtime/strictCommand.ts'
import packageJson from '../package.json' with { type: 'json' }
import { builtExecutable } from './distribution/builtExecutable.ts'
import { cliConfiguration, requiredProviders } from './distribution/instructions.ts'
import { installIntoMirror, needsProgram, ownPlatform } from './distribution/mirror.ts'
import { type PackageCommandOptions, packageRelease } from './distribution/packageCommand.ts'
import { developmentVersion, SCRIPT_PLATFORMS } from './distribution/registryPackage.ts'
import { withStandaloneProgram } from './distribution/standalone.ts'
import { type GenerateOptions, generate, LANGUAGES } from './generate/generateCommand.ts'
import { CDK_LIBRARIES } from './generate/typescript.ts'
import { DiagnosticError } from './protocol/authoring/diagnostics.ts'

const { version: released } = packageJson

/** Implements --dev. */
const DEV =
  'use version <version>-dev.<hash of the program>, for unreleased builds: a lock file accepts only one program of each version'

interface InstallOptions {
  readonly mirror: string
  readonly cliConfig?: string
  readonly dev?: true
  readonly json?: true
}

/** Writes the CLI configuration to `file`, unless the file exists with other content. */
function writeCliConfiguration(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') !== text) {
    throw new Error(`${file} exists and is different: add the provider_installation block by hand`)
  }
  writeFileSync(file, text)
}

/** Creates the mirror and prints the configuration for it. Throws an Error with a message for the user. */
function install(options: InstallOptions): void {
  const platform = ownPlatform()
  const script = builtExecutable()
  const version = options.dev === true ? developmentVersion(released, script) : released
  const mirror = resolve(options.mirror)
  const place = (executable: string): readonly string[] =>
    installIntoMirror({ executable, mirror, version, platform })
  const files = needsProgram(platform) ? withStandaloneProgram(script, platform, place) : place(script)
  const configuration = cliConfiguration(mirror)
  if (options.cliConfig !== undefined) writeCliConfiguration(options.cliConfig, configuration)
  if (options.json === true) {
    const document = {
      version,
      platform,
      mirror,
      files,
      cli_configuration: configuration,
      required_providers: requiredProviders(version),
    }
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return
  }
  const where =
    options.cliConfig === undefined
      ? 'Put this into your CLI configuration (~/.terraformrc, ~/.tofurc, terraform.rc or tofu.rc in %APPDATA% on Windows, or the file that TF_CLI_CONFIG_FILE names):'
      : `The CLI configuration is ${options.cliConfig}. Terraform reads the file that the variable TF_CLI_CONFIG_FILE names:`
  process.stdout.write(`installed version ${version} for ${platform}:
${files.map((file) => `  ${file}`).join('\n')}

${where}

${configuration}
Put this into your Terraform configuration:

${requiredProviders(version)}`)
}

/** Rejects the value of an unset variable. */
function given(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty: is a variable not set?')
  return value
}

const program = new StrictCommand('pharos-provider')
  .description(
    'installs and packages the Terraform provider "pharos", and writes configuration of existing services',
  )
  .version(released)

program
  .command('install')
  .description('create a filesystem mirror for Terraform and OpenTofu, and print how to use it')
  .requiredOption('--mirror <dir>', 'folder of the mirror; created when missing', given)
  .option(
    '--cli-config <file>',
    'also write the CLI configuration to this file; an existing file that differs is kept',
    given,
  )
  .option('--dev', DEV)
  .option('--json', 'print one JSON document instead of text')
  .addHelpText('after', '\nExample:\n  pharos-provider install --mirror ~/.terraform.d/mirror')
  .action(install)

program
  .command('package')
  .description(
    'write the files that a registry needs: a zip for each platform, the manifest, SHA256SUMS and docs/',
  )
  .requiredOption('--out <dir>', 'folder for the files; created when missing', given)
  .option('--platform <platforms...>', `platforms, of ${SCRIPT_PLATFORMS.join(', ')} (default: all)`)
  .option(
    '--standalone',
    "put a program that needs no Node (about 100 MB) into this platform's zip, instead of the script",
  )
  .option(
    '--standalone-node <platform=file...>',
    'the same for other platforms (Linux, macOS, Windows), each with its Node executable, of the same version as this Node',
  )
  .option('--sign <key>', 'sign SHA256SUMS with this GnuPG key, as public registries require')
  .option('--dev', DEV)
  .option('--json', 'print one JSON document instead of text')
  .addHelpText(
    'after',
    '\nExamples:\n  pharos-provider package --out release\n  pharos-provider package --out release --platform linux_amd64 --standalone',
  )
  .action((options: PackageCommandOptions) => packageRelease(options, released))

program
  .command('generate')
  .description('write configuration with import blocks for all services of the organisation')
  .addOption(
    new Option('--language <language>', 'HCL, or a CDKTF program in TypeScript')
      .choices(LANGUAGES)
      .default('hcl'),
  )
  .addOption(
    new Option('--library <library>', 'library that the CDKTF program imports (default: cdktf)').choices(
      CDK_LIBRARIES,
    ),
  )
  .option('--out <file>', 'file to write, which must not exist (default: stdout)', given)
  .addHelpText(
    'after',
    '\nReads PHAROS_URL and PHAROS_API_KEY; a read_only key is enough.\n\nExamples:\n  pharos-provider generate --out services.tf\n  pharos-provider generate --language typescript --library cdktn --out main.ts',
  )
  .action((options: GenerateOptions) => generate(options, released, process.env))

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`pharos-provider: ${messageOf(error)}\n`)
  process.exitCode = 1
}

function messageOf(error: unknown): string {
  if (error instanceof DiagnosticError) {
    return error.diagnostics.map(({ summary, detail }) => `${summary}: ${detail}`).join('\n')
  }
  if (isFileError(error)) return fileErrorText(error)
  return error instanceof Error ? error.message : String(error)
}
