/**
 * Installs the better-sqlite3 that runs on this Node into a checkout, when `npm ci` has not.
 *
 * No release of better-sqlite3 runs on every Node that we support. The repository's lock file pins 13, which includes
 * its binaries and needs Node 22. On Node 20 npm skips it, as it does with optional dependencies whose `engines` do not
 * match. 12 runs on Node 20, crashes at random on Node 24, and is compiled when its binary cannot be downloaded, so it
 * is installed only where needed. npm before 11.19 also skips 13 without Python, because a lock file does not say that
 * there is nothing to compile.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const scripts = dirname(fileURLToPath(import.meta.url))
const modules = join(scripts, '../node_modules')
/** Folder for npm's installation. npm ignores folders whose names begin with a dot. */
const place = join(modules, '.sqlite')
const isWindows = process.platform === 'win32'

/** The release for this Node, a file that it needs to run, and what to do when npm fails. `source` has its lock file. */
const release =
  Number.parseInt(process.versions.node, 10) < 22
    ? {
        source: 'sqlite/node20',
        flags: [],
        native: 'build/Release/better_sqlite3.node',
        remedy:
          'Node 22 or newer needs no download from GitHub and no compiler. On Node 20, install a C++ compiler and Python; ' +
          'without access to nodejs.org, set npm_config_nodedir to the folder that has include/node, such as /usr.',
      }
    : {
        source: 'sqlite/node22',
        flags: ['--ignore-scripts'],
        native: 'prebuilds',
        remedy: 'Check the access to the npm registry.',
      }

/** The version of better-sqlite3 in the packages folder `folder`; `undefined` when it or its native part is missing. */
function versionIn(folder) {
  const found = join(folder, 'better-sqlite3')
  if (!existsSync(join(found, release.native))) return undefined
  return JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')).version
}

function install() {
  mkdirSync(place, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(scripts, release.source, file), join(place, file))
  }
  // This runs inside another npm, whose setting for `npm install --global` must not apply here.
  try {
    execFileSync('npm', ['ci', '--global=false', '--no-audit', '--no-fund', ...release.flags], {
      cwd: place,
      stdio: 'inherit',
      shell: isWindows,
    })
  } catch {
    process.stderr.write(
      `\nbetter-sqlite3 ${wanted} was not installed; npm gives the reason above. ${release.remedy}\n`,
    )
    process.exit(1)
  }
}

/** Links the installed package to the path where `import 'better-sqlite3'` finds it. */
function link() {
  const found = join(modules, 'better-sqlite3')
  const target = '.sqlite/node_modules/better-sqlite3'
  rmSync(found, { recursive: true, force: true })
  symlinkSync(isWindows ? join(modules, target) : target, found, 'junction')
}

const { dependencies } = JSON.parse(readFileSync(join(scripts, release.source, 'package.json'), 'utf8'))
const wanted = dependencies['better-sqlite3']
const isOmitted = process.env.npm_config_omit?.includes('optional') === true
if (!isOmitted && versionIn(modules) !== wanted) {
  if (versionIn(join(place, 'node_modules')) !== wanted) install()
  link()
}
