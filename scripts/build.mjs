/**
 * Builds all programs of users into dist/: the four commands, the provider executable and the CDKTF bindings.
 *
 * Each file is written under a temporary name and renamed, and only when its bytes changed. So a test that runs at the
 * same time never sees a partial program, and an installed provider keeps its hash.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { build } from 'esbuild'
import { buildBindings } from './buildBindings.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const installed = createRequire(import.meta.url)

/** Bundled packages are CommonJS and call require(), which an ES module must define. */
const REQUIRE_IN_ESM =
  "import { createRequire as pharosCreateRequire } from 'node:module'; const require = pharosCreateRequire(import.meta.url);"

/**
 * Node opens its inspector on SIGUSR1 unless there is a handler, and any user of the machine can read the memory
 * through the inspector. Node 20 does not know the flag that forbids it, and would refuse to start.
 */
const NO_INSPECTOR_ON_SIGNAL = "process.on('SIGUSR1', () => {});"

/**
 * Ends the program on a Node that is too old. It runs only if each function that such a Node lacks, such as `hash` of
 * node:crypto, is imported with its whole module: a missing name is an error of the loader, before the first line.
 */
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [NODE_MAJOR, NODE_MINOR] = engines.node.match(/\d+/g)
const REQUIRE_NODE = `{
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < ${NODE_MAJOR} || (major === ${NODE_MAJOR} && minor < ${NODE_MINOR})) {
    process.stderr.write(\`Pharos needs Node ${NODE_MAJOR}.${NODE_MINOR} or newer; this is Node \${process.versions.node}: install a newer one\\n\`)
    process.exit(1)
  }
}`

const programs = [
  // Only the controller command serves HTTP. The others start a third faster without that code.
  {
    entry: 'reconciler/main.ts',
    out: 'pharos.js',
    format: 'esm',
    late: ['fastify', 'undici', 're2js', 'prom-client', 'croner'],
  },
  // Most commands administer a data folder, and neither serve HTTP nor reach PostgreSQL.
  {
    entry: 'server/main.ts',
    out: 'pharos-server.js',
    format: 'esm',
    late: ['re2js', 'fastify', 'prom-client', 'pg'],
  },
  // The thread for slow matches, which programs with checks start.
  { entry: 'monitoring/assertions/matcherWorker.ts', out: 'pharos-matcher.js', format: 'esm' },
  // Threads of the server.
  { entry: 'server/results/threads/resultsThread.ts', out: 'pharos-server-results.js', format: 'esm' },
  { entry: 'server/results/threads/readingThread.ts', out: 'pharos-server-reading.js', format: 'esm' },
  { entry: 'server/store/postgres/blocking/clientThread.ts', out: 'pharos-server-link.js', format: 'esm' },
  { entry: 'server/agents/checksThread.ts', out: 'pharos-server-checks.js', format: 'esm' },
  { entry: 'monitoring/main.ts', out: 'pharos-agent.js', format: 'esm', late: ['re2js'] },
  { entry: 'provider/cli.ts', out: 'pharos-provider.js', format: 'esm', late: ['undici'] },
  // Terraform starts the provider file directly. The extension makes it CommonJS below any package.json.
  { entry: 'provider/main.ts', out: 'terraform-provider-pharos.cjs', format: 'cjs', isPacked: true },
]

/** Files of examples/ci that `pharos init` writes, because the package does not contain examples. */
const RECIPES = ['github.yml', 'gitlab.yml', 'comment.mjs']

/** Libraries that most processes of the provider do not use. They stay texts until loaded. */
const LATE_LIBRARIES = ['undici', 're2js']

/**
 * Leaves out undici's browser interfaces, mocks and caches. Its index loads all of them, which takes half of its start
 * time, but our programs use only its agents and requests.
 */
const leanUndici = {
  name: 'lean undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/lib\/(web|mock|interceptor|cache)\// }, ({ importer, path }) =>
      importer.endsWith('/undici/index.js') ? { path, namespace: 'left out' } : undefined,
    )
    // HTTP/2 is off, but its module would load node:http2.
    onResolve({ filter: /^\.\/client-h2\.js$/ }, ({ path }) => ({ path, namespace: 'left out' }))
    // The index instantiates some of them when it is loaded.
    onLoad({ filter: /./, namespace: 'left out' }, () => ({
      contents: 'module.exports = new Proxy({}, { get: () => class LeftOut {} })',
    }))
    onLoad({ filter: /\/undici\/lib\/dispatcher\/client-h1\.js$/ }, ({ path }) => ({
      contents: withoutOptimizer(readFileSync(path, 'utf8')),
    }))
  },
}

/**
 * `code` of undici, with its HTTP parser compiled when it is loaded, and only by V8's baseline compiler.
 *
 * The parser is WebAssembly. After some hundred bytes V8 would optimise one of its functions, which takes 100 ms of CPU
 * time, and a process cannot end before that: a plan of Terraform took a third longer. The parser is as fast without.
 * The flags are restored afterwards, because V8's code cache depends on them.
 */
function withoutOptimizer(code) {
  const replacements = [
    ['new WebAssembly.Module(', 'compiledSimply('],
    ['let llhttpInstance = null', 'let llhttpInstance = lazyllhttp()'],
  ]
  let compiled = code
  for (const [before, after] of replacements) {
    if (!code.includes(before)) throw new Error('undici compiles its parser in another way than before')
    compiled = compiled.replaceAll(before, after)
  }
  return `${compiled}
function compiledSimply(bytes) {
  const { setFlagsFromString } = require('node:v8')
  const flags = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up']
  for (const flag of flags) setFlagsFromString('--no-' + flag)
  try {
    return new WebAssembly.Module(bytes)
  } finally {
    for (const flag of flags) setFlagsFromString('--' + flag)
  }
}
`
}

/**
 * Packs the modules that the provider's entry point imports dynamically, and large libraries within them, into comments
 * of the same file.
 *
 * V8 parses a whole file before its first line runs, and Terraform waits for the first line of the provider's output.
 * With packing, that line is written before the provider itself is parsed. V8 skips a comment, while it would copy and
 * hash a string in each process. The text of a function includes its comment.
 */
const packing = {
  name: 'packing',
  setup(outer) {
    const { initialOptions, onResolve, onLoad, onEnd } = outer
    const comments = []
    const entry = join(root, initialOptions.entryPoints[0])
    const inner = innerBuild(initialOptions)
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir, importer }) =>
      kind === 'dynamic-import' && importer === entry
        ? { path: relative(root, resolve(resolveDir, path)), namespace: 'packed' }
        : undefined,
    )
    onLoad({ filter: /schemaBytes/, namespace: 'packed' }, async ({ path }) => {
      const { schemaBytes } = evaluated(await inner(path, []))
      const text = Buffer.from(schemaBytes).toString('base64')
      return { contents: `export const schemaBytes = Buffer.from('${text}', 'base64')`, loader: 'js' }
    })
    onLoad({ filter: /./, namespace: 'packed' }, async ({ path }) => {
      const packs = []
      const pack = (name, code) => {
        const digest = createHash('sha256').update(code).digest('hex').slice(0, 16)
        const bytes = deflateRawSync(code, { level: 9 }).toString('base64')
        comments.push(`function packed_${name}() {/*${bytes}*/}\n`)
        packs.push(`${name}: { key: '${name}-${digest}', comment: packed_${name} }`)
        return `load('${name}')`
      }
      const main = pack('main', await inner(path, [textLibraries(inner, LATE_LIBRARIES, pack)]))
      const contents = `import { compileCached } from './provider/protocol/plugin/compileCache.ts'
const packs = { ${packs.toSorted().join(', ')} }
const names = ['module', 'exports', 'require', '__filename', 'load']
const filename = typeof __filename === 'string' ? __filename : process.argv[1]
function load(name) {
  const module = { exports: {} }
  const { key, comment } = packs[name]
  const bytes = () => Buffer.from(/[*](.*)[*]/.exec(comment)[1], 'base64')
  const unpack = () => require('node:zlib').inflateRawSync(bytes()).toString()
  compileCached(unpack, { names, key, filename })(module, module.exports, require, filename, load)
  return module.exports
}
export const { pharos } = ${main}`
      return { contents, loader: 'js', resolveDir: root }
    })
    // Sorted, because libraries are bundled in an arbitrary order, and the bytes of the executable must not depend on
    // it.
    onEnd(({ outputFiles: [file] }) => {
      file.contents = Buffer.concat([file.contents, Buffer.from(comments.toSorted().join(''))])
    })
  },
}

/** The exports of the CommonJS module `code`. */
function evaluated(code) {
  const module = { exports: {} }
  new Function('module', 'exports', 'require', code.toString())(module, module.exports, installed)
  return module.exports
}

/** Bundles code for embedding as text in another bundle. */
const innerBuild = (initialOptions) => (path, plugins) =>
  build({
    ...initialOptions,
    entryPoints: [path],
    plugins,
    banner: {},
    format: 'cjs',
    // Names are kept for stack traces in bug reports.
    minifyWhitespace: true,
    minifySyntax: true,
  }).then(({ outputFiles: [{ contents }] }) => Buffer.from(contents))

/**
 * A CommonJS module with the exports `names` of the module that the expression `loading` returns, evaluated on first
 * use. Import it by name, because a default import would get the object with the getters.
 */
function usedLate(names, loading) {
  const getters = names.map((name) => `get ${JSON.stringify(name)}() { return late().${name} }`)
  return `let loaded
const late = () => (loaded ??= ${loading})
module.exports = { __esModule: true, ${getters.join(', ')} }`
}

/** Keeps `libraries` as texts in a bundle. */
const lateLibraries = (libraries) => ({
  name: 'late libraries',
  setup: (outer) => textLibraries(innerBuild(outer.initialOptions), libraries).setup(outer),
})

/**
 * Bundles each of `libraries` separately with `inner`, and embeds it as text that runs on first use. `keep` returns the
 * expression of its exports.
 */
const textLibraries = (inner, libraries, keep = running) => ({
  name: 'text libraries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(${libraries.join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'text',
    }))
    onLoad({ filter: /./, namespace: 'text' }, async ({ path }) => {
      const exported = keep(path, await inner(path, [leanUndici]))
      return { contents: usedLate(Object.keys(installed(path)), exported), loader: 'js' }
    })
  },
})

/** An expression for the exports of the CommonJS module `code`, which is kept as text. */
const running = (_, code) => `((packed, filename) => {
  const names = ['module', 'exports', 'require', '__filename']
  const text = ${JSON.stringify(code.toString())}
  require('node:vm').compileFunction(text, names, { filename })(packed, packed.exports, require, filename)
  return packed.exports
})({ exports: {} }, typeof __filename === 'string' ? __filename : process.argv[1])`

function writeWhenChanged(file, bytes) {
  if (existsSync(file) && readFileSync(file).equals(bytes)) return
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, bytes)
  chmodSync(temporary, 0o755)
  renameSync(temporary, file)
}

async function bundle({ entry, out, format, isPacked = false, late = [] }) {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join('dist', out),
    bundle: true,
    plugins: isPacked ? [packing] : [leanUndici, ...(late.length === 0 ? [] : [lateLibraries(late)])],
    write: false,
    platform: 'node',
    target: 'node20',
    format,
    // better-sqlite3 has a native binary that cannot be part of a bundle.
    external: ['better-sqlite3'],
    banner: {
      js: `#!/usr/bin/env node\n${format === 'esm' ? REQUIRE_IN_ESM : ''}${NO_INSPECTOR_ON_SIGNAL}${REQUIRE_NODE}`,
    },
    legalComments: 'none',
    logLevel: 'warning',
  })
  writeWhenChanged(join(root, 'dist', out), Buffer.from(result.outputFiles[0].contents))
}

/** Builds the programs whose file in dist/ `isWanted` accepts. */
export async function buildPrograms(isWanted) {
  mkdirSync(join(root, 'dist'), { recursive: true })
  await Promise.all(programs.filter(({ out }) => isWanted(out)).map(bundle))
  mkdirSync(join(root, 'dist/ci'), { recursive: true })
  for (const name of RECIPES) {
    writeWhenChanged(join(root, 'dist/ci', name), readFileSync(join(root, 'examples/ci', name)))
  }
}

export async function buildAll() {
  await buildPrograms(() => true)
  buildBindings(root, writeWhenChanged)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll()
