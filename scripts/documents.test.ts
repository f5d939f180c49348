import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = process.cwd()
const continuousIntegration = readFileSync('.ci/run', 'utf8') + readFileSync('.ci/on-node', 'utf8')

/** All documents of the repository. */
const documents = ['.', 'docs', 'examples', 'provider', 'reconciler', 'server'].flatMap((folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
        .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
        .map((name) => join(folder, name))
    : [],
)

/** The `sh` blocks of a document, in order. */
function shellBlocks(document: string): readonly string[] {
  return [...readFileSync(document, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

function linesOf(block: string): readonly string[] {
  return block.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#'))
}

/** Whether CI runs each line of `block` itself. */
function isRunByCi(block: string): boolean {
  const commands = continuousIntegration.split('\n').map((line) => line.trim().replace(/ 2>&1.*$/, ''))
  return linesOf(block).every((line) => commands.includes(line.trim()))
}

/** What the document's reader has: our commands on the PATH, the examples, an empty folder, no settings of ours. */
function readersEnvironment(folder: string): NodeJS.ProcessEnv {
  const commands = join(folder, '.bin')
  mkdirSync(commands)
  for (const command of ['pharos', 'pharos-server', 'pharos-provider']) {
    symlinkSync(join(root, 'dist', `${command}.js`), join(commands, command))
  }
  const { PHAROS_URL: _url, PHAROS_API_KEY: _key, ...inherited } = process.env
  return {
    ...inherited,
    PATH: [commands, join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    HOME: folder,
    CHECKPOINT_DISABLE: '1',
    GIT_AUTHOR_NAME: 'Reader',
    GIT_AUTHOR_EMAIL: 'reader@example.com',
    GIT_COMMITTER_NAME: 'Reader',
    GIT_COMMITTER_EMAIL: 'reader@example.com',
  }
}

/** Runs `script` in a process group of its own, and ends the group: documents start servers. */
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
  test.each(documents.filter((document) => shellBlocks(document).some((block) => !isRunByCi(block))))(
    'the commands of %s do what it says, typed in order',
    async (document) => {
      const folder = mkdtempSync(join(tmpdir(), 'pharos-reader-'))
      const blocks = shellBlocks(document).filter((block) => !isRunByCi(block))
      const place = document.startsWith('examples/') ? dirname(document) : undefined
      if (place !== undefined) cpSync(place, folder, { recursive: true })

      const { exitCode, output } = await runScript(blocks.join('\n'), folder)
      rmSync(folder, { recursive: true, force: true })

      expect(exitCode, output).toBe(0)
    },
  )

  test('every block of shell commands is marked as one that a test runs', () => {
    const unmarked = documents.flatMap((document) =>
      [
        ...readFileSync(document, 'utf8').matchAll(/^```((?:bash|shell|console|sh .+|zsh|terminal).*)$/gm),
      ].map(([, language]) => `${document}: ${language}`),
    )

    expect(unmarked).toEqual([])
  })

  test('every link from one document to another leads somewhere', () => {
    const broken = documents.flatMap((document) =>
      [...readFileSync(document, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
        .map(([, target = '']) => join(dirname(document), target))
        .filter((target) => !existsSync(target))
        .map((target) => `${document}: ${target}`),
    )

    expect(broken).toEqual([])
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
