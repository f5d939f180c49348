import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import packageJson from '../package.json' with { type: 'json' }

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command as a user does. */
function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/pharos-provider.js', ...args], (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

test('--help describes every command, starting with a sentence, and --version prints the version', async () => {
  const commands = [[], ['install'], ['package'], ['generate']]
  const [version, ...helps] = await Promise.all([
    run('--version'),
    ...commands.map((args) => run(...args, '--help')),
  ])

  for (const help of helps) {
    expect(help).toMatchObject({ exitCode: 0, stderr: '' })
    expect(help.stdout.split('\n\n')[1]?.replaceAll(/\s+/g, ' ')).toMatch(/^[A-Z].*[^.]\.$/)
  }
  expect(helps[0]?.stdout).toMatch(/^ {2}install \[options\] +create a filesystem mirror/m)
  expect(version).toEqual({ exitCode: 0, stdout: `${packageJson.version}\n`, stderr: '' })
})

test('a misspelt option is named before the missing one', async () => {
  const { exitCode, stderr } = await run('install', '--miror', 'mirror')

  expect(exitCode).toBe(1)
  expect(stderr).toContain("unknown option '--miror'")
})

test('install prints the installed path, the CLI configuration and the requirement', async () => {
  const mirror = join(testFolder(), 'mirror')

  const { exitCode, stdout, stderr } = await run('install', '--mirror', mirror)

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain(`path    = "${mirror}"`)
  expect(stdout).toContain('source  = "pharos/pharos"')
  const file = /^ {2}(\/.*registry\.terraform\.io.*)$/m.exec(stdout)?.[1] ?? ''
  expect(existsSync(file)).toBe(true)
})

test('install --json prints the same as one document', async () => {
  const mirror = join(testFolder(), 'mirror')

  const { exitCode, stdout } = await run('install', '--mirror', mirror, '--json')

  expect(exitCode).toBe(0)
  const document = JSON.parse(stdout)
  expect(document).toMatchObject({ version: packageJson.version, mirror })
  expect(document.files.every((file: string) => existsSync(file))).toBe(true)
  expect(document.cli_configuration).toContain('filesystem_mirror')
  expect(document.required_providers).toContain('required_providers')
})

test('install writes the CLI configuration to the given path, and does not change a different one', async () => {
  const root = testFolder()
  const [mirror, file, taken] = [join(root, 'mirror'), join(root, 'new.rc'), join(root, 'taken.rc')]
  writeFileSync(taken, 'credentials "example.com" {}')

  const written = await run('install', '--mirror', mirror, '--cli-config', file)
  const again = await run('install', '--mirror', mirror, '--cli-config', file)
  const refused = await run('install', '--mirror', mirror, '--cli-config', taken)

  expect([written.exitCode, again.exitCode, refused.exitCode]).toEqual([0, 0, 1])
  expect(readFileSync(file, 'utf8')).toContain(`path    = "${mirror}"`)
  expect(readFileSync(taken, 'utf8')).toBe('credentials "example.com" {}')
  expect(refused.stderr).toContain('add the provider_installation block by hand')
})

test('a mirror below a file is refused in plain words, in one line', async () => {
  const file = join(testFolder(), 'a file')
  writeFileSync(file, '')

  const { exitCode, stdout, stderr } = await run('install', '--mirror', join(file, 'mirror'))

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^pharos-provider: .* cannot be used: a part of its path is a file, not a folder\n$/)
})

test('a missing option and an unknown command are named, with a pointer to --help', async () => {
  const missing = await run('install')
  const unknown = await run('instal')

  expect(missing.exitCode).toBe(1)
  expect(missing.stderr).toContain('--mirror')
  expect(unknown.exitCode).toBe(1)
  expect(unknown.stderr).toContain("unknown command 'instal'")
  expect(unknown.stderr).toContain('--help')
})

test('the value of an unset variable is refused, and nothing is written', async () => {
  for (const args of [
    ['install', '--mirror', ''],
    ['package', '--out', ''],
    ['generate', '--out', ''],
  ]) {
    const { exitCode, stdout, stderr } = await run(...args)

    expect([args[0], exitCode, stdout]).toEqual([args[0], 1, ''])
    expect(stderr).toContain('It is empty: is a variable not set?')
  }
})
