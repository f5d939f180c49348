import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { readersEnvironment, root } from './readersEnvironment.ts'

const continuousIntegration = ['run', 'install', 'on-node', 'python']
  .map((name) => readFileSync(join('.ci', name), 'utf8'))
  .join('')

/** All documents of the repository. */
const documents = ['.', 'deploy', 'docs', 'examples', 'provider', 'reconciler', 'server'].flatMap((folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
        .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
        .map((name) => join(folder, name))
    : [],
)

interface ShellBlock {
  readonly text: string
  /** The test that runs it, if it is not this one. */
  readonly test: string | undefined
}

/** The `sh` blocks of a document, in order. */
function shellBlocks(document: string): readonly ShellBlock[] {
  const found = readFileSync(document, 'utf8').matchAll(/(?:^<!-- run by (\S+) -->\n)?^```sh\n(.*?)^```$/gms)
  return [...found].map(([, test, text = '']) => ({ text, test }))
}

/** The blocks of `document`, which run in order in the place that it names. */
function typedBlocks(document: string): readonly string[] {
  return shellBlocks(document).flatMap(({ text, test }) =>
    test === undefined && !isRunByCi(text) ? [text] : [],
  )
}

/**
 * The lines of the `text` blocks of a document that follow a `sh` block: the output that a reader sees after typing it.
 * Blocks after prose show errors and formats instead.
 */
function shownLines(document: string): readonly string[] {
  const blocks = readFileSync(document, 'utf8').matchAll(
    /^```sh\n(?:(?!^```$).)*^```\n\n```text\n(.*?)^```$/gms,
  )
  return [...blocks].flatMap(([, text = '']) => text.trimEnd().split('\n'))
}

/** How a document names the place for its blocks. */
const PLACES = {
  folder: /\bin an\s+empty\s+folder\b/i,
  copy: /\bin (?:the|a) copy\b/i,
  checkout: /\bin (?:a|the) checkout\b/i,
}

function linesOf(block: string): readonly string[] {
  return block.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#'))
}

/** Whether CI runs each line of `block` itself. */
function isRunByCi(block: string): boolean {
  const commands = continuousIntegration
    .split('\n')
    .map((line) => line.trim().replace(/(?: "\$@")? 2>&1.*$/, ''))
  return linesOf(block).every((line) => commands.includes(line.trim()))
}

/** Ports that documents name: each is replaced by a free one, so that a server that runs here does not matter. */
const DOCUMENTED_PORTS = ['7171', '7172', '7173', '7174', '7175', '7176', '7180', '8080']

async function withFreePorts(script: string): Promise<string> {
  let replaced = script
  for (const documented of DOCUMENTED_PORTS) {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // True because the server listens on TCP.
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    replaced = replaced.replaceAll(documented, String(port))
  }
  return replaced
}

/**
 * Links to this checkout and its packages replace npm's downloads, and so do their commands: no network is needed, and
 * the test covers the local code.
 */
function withLinkedPackages(script: string): string {
  const local = script.replaceAll(/^npm pack .*\n/gm, '').replaceAll(/\.\/pharos-[\d.]+\.tgz/g, 'pharos')
  return local.replaceAll(/^npm install (.*\bpharos\b.*)$/gm, (_line, names: string) => {
    const links = names
      .split(' ')
      .map(
        (name) =>
          `ln -s "${name === 'pharos' ? root : join(root, 'node_modules', name)}" node_modules/${name}`,
      )
    const commands = ['tsx', '../../dist/pharos-provider.js', '../../dist/pharos-server.js'].map(
      (command) => {
        const path = join(root, 'node_modules/.bin', command)
        return `ln -s "${path}" node_modules/.bin/${basename(command, '.js')}`
      },
    )
    return ['mkdir -p node_modules/.bin', ...links, ...commands].join('\n')
  })
}

/** Runs `script` in a separate process group, and ends the group, because documents start servers. */
function runScript(script: string, folder: string): Promise<{ exitCode: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: readersEnvironment(folder),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('exit', (exitCode) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // Nothing of the group is left.
      }
      resolve({ exitCode, output })
    })
  })
}

describe('documents', () => {
  test.each(documents.filter((document) => typedBlocks(document).length > 0))(
    'the commands of %s work as described, typed in order',
    async (document) => {
      const folder = testFolder()
      const blocks = typedBlocks(document)
      const place = /^(?:deploy|examples)\//.test(document) ? dirname(document) : undefined
      if (place !== undefined) cpSync(place, folder, { recursive: true })

      const { exitCode, output } = await runScript(
        withLinkedPackages(await withFreePorts(blocks.join('\n'))),
        folder,
      )

      expect(exitCode, output).toBe(0)
      const printed = output.split('\n').map((line) => line.trim())
      expect(shownLines(document).filter((line) => !printed.includes(line.trim()))).toEqual([])
    },
    // A document may take a while on a busy machine; a hang still ends.
    180_000,
  )

  test('every block of shell commands is marked with the test that runs it', () => {
    const unmarked = documents.flatMap((document) =>
      [
        ...readFileSync(document, 'utf8').matchAll(/^```((?:bash|shell|console|sh .+|zsh|terminal).*)$/gm),
      ].map(([, language]) => `${document}: ${language}`),
    )

    expect(unmarked).toEqual([])
  })

  // An interactive zsh, the shell of macOS, reads a comment as arguments; its sed and mkdir have short options only.
  test('the commands of documents can be pasted into any shell, also on macOS', () => {
    const unportable = documents.flatMap((document) =>
      shellBlocks(document).flatMap(({ text }) =>
        text
          .replaceAll(/<<'?(\w+)'?$.*?^\1$/gms, '')
          .split('\n')
          .filter((line) => /(?:^|\s)#|\b(?:sed|mkdir)\b.* --|\bexit \d/.test(line))
          .map((line) => `${document}: ${line}`),
      ),
    )

    expect(unportable).toEqual([])
  })

  test('every document says where to type its commands, and how the programs get onto the PATH', () => {
    const silent = documents.filter((document) => {
      const text = readFileSync(document, 'utf8')
      if (shellBlocks(document).length === 0) return false
      if (typedBlocks(document).length === 0) return !PLACES.checkout.test(text)
      const place = /^(?:deploy|examples)\//.test(document) ? PLACES.copy : PLACES.folder
      const isInstalled = /\]\((?:\.\.\/)+README\.md#install\)/.test(text)
      return !place.test(text) || !isInstalled
    })

    expect(silent).toEqual([])
  })

  test('every block that another test runs is read by that test', () => {
    const unread = documents.flatMap((document) =>
      shellBlocks(document)
        .filter(({ test: file }) => file !== undefined)
        .filter(({ test: file = '' }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(document))
        .map(({ text }) => `${document}: ${text}`),
    )

    expect(unread).toEqual([])
  })

  test('every link from one document to another has a target', () => {
    const broken = documents.flatMap((document) =>
      [...readFileSync(document, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
        .map(([, target = '']) => join(dirname(document), target))
        .filter((target) => !existsSync(target))
        .map((target) => `${document}: ${target}`),
    )

    expect(broken).toEqual([])
  })

  test('the list of pages has every page, and each page names its readers', () => {
    const pages = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md')
    const list = readFileSync('docs/README.md', 'utf8')

    expect(pages.filter((name) => !list.includes(`](${name})`))).toEqual([])
    const examples = readdirSync('examples')
      .filter((name) => !name.includes('.'))
      .map((name) => join('examples', name, 'README.md'))
    const others = ['SECURITY.md', 'deploy/README.md', ...examples]
    expect(
      [...pages.map((name) => join('docs', name)), ...others].filter(
        (page) => !/^# .+\n\nFor [a-z]/.test(readFileSync(page, 'utf8')),
      ),
    ).toEqual([])
  })

  test('docs/architecture.md says for every folder of the programs what is decided there', () => {
    const map = /^## Folders\n(.*?)^## /ms.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1] ?? ''
    const mapped = [...map.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(.+?)`/g)].map(([, folder]) => folder),
    )
    const folders = ['api', 'server', 'provider', 'reconciler'].flatMap((program) =>
      readdirSync(program, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== 'testing')
        .map(({ name }) => `${program}/${name}`),
    )

    expect(folders.filter((folder) => !mapped.includes(folder))).toEqual([])
    expect(mapped.filter((folder = '') => !existsSync(folder))).toEqual([])
  })

  test('the map of README.md has every folder', () => {
    const map = /^## Map\n(.*?)^## /ms.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
    const folders = new Set(
      execFileSync('git', ['ls-files'], { encoding: 'utf8' })
        .split('\n')
        .flatMap((file) => /^([^./][^/]*)\//.exec(file)?.[1] ?? []),
    )

    expect(folders.size).toBeGreaterThan(8)
    expect([...folders].filter((folder) => !map.includes(`| \`${folder}/\` |`))).toEqual([])
  })

  test('every listener has the same port in all documents, and no two listeners share one', () => {
    const flags = documents.flatMap((document) =>
      [...readFileSync(document, 'utf8').matchAll(/(--(?:\w+-)?port) (\d{4})/g)].map(
        ([, flag = '', port = '']) => [flag, port] as const,
      ),
    )
    const ports = new Map(flags)

    expect(ports.size).toBeGreaterThan(4)
    expect(flags.filter(([flag, port]) => ports.get(flag) !== port)).toEqual([])
    expect(new Set(ports.values()).size).toBe(ports.size)
  })

  test('every npm script that a document names exists', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const missing = documents.flatMap((document) =>
      [...readFileSync(document, 'utf8').matchAll(/npm run ([\w:]+)/g)]
        .filter(([, name = '']) => !(name in scripts))
        .map(([command]) => `${document}: ${command}`),
    )

    expect(missing).toEqual([])
  })
})
