import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'

const run = promisify(execFile)

/** Folder, import in a file of that folder, and start of the linter's message; '' when the import is allowed. */
const imports = [
  ['api/contract', 'zod', ''],
  ['api/contract', './duration.ts', ''],
  ['api/contract', '../client/client.ts', 'api/contract is pure'],
  ['api/contract', 'node:crypto', 'api/contract is pure'],
  ['api/client', '../contract/duration.ts', ''],
  ['api/client', 'undici', ''],
  ['api/client', '../network/proxy.ts', ''],
  ['api/client', 'node:fs', 'api/client may import'],
  ['api/client', 'fastify', 'api/client may import'],
  ['api/client', '../../server/main.ts', 'api/client may import'],
  ['server/domain', '../../api/contract/duration.ts', ''],
  ['server/domain', 'node:crypto', ''],
  ['server/domain', '../http/routes.ts', 'server/domain may import'],
  ['server/domain', '../store/store.ts', 'server/domain may import'],
  ['server/domain', 'better-sqlite3', 'server/domain may import'],
  ['server/domain', 'fastify', 'server/domain may import'],
  ['server/domain/notifications', 'zod', ''],
  ['server/domain/notifications', '../seal.ts', ''],
  ['server/domain/notifications', '../../../api/contract/incident.ts', ''],
  ['server/domain/notifications', '../../http/app.ts', 'server/domain may import'],
  ['server/store', 'better-sqlite3', ''],
  ['server/store', '../domain/service.ts', ''],
  ['server/store', '../http/routes.ts', 'server/store may import'],
  ['server/store', 'fastify', 'server/store may import'],
  ['server/http', 'fastify', ''],
  ['server/http', '../../api/client/client.ts', 'server never imports'],
  ['server/http', '../../provider/main.ts', 'server never imports'],
  ['server', '../reconciler/main.ts', 'server never imports'],
  ['server', '../monitoring/check/network/addressRules.ts', ''],
  ['monitoring/check', '../../api/contract/duration.ts', ''],
  ['monitoring/check', '../assertions/assertion.ts', ''],
  ['monitoring/check', 'node:tls', ''],
  ['monitoring/check', '../../server/main.ts', 'monitoring may import'],
  ['monitoring/check', '../../../api/client/client.ts', 'monitoring may import'],
  ['monitoring/check/http', '../../../reconciler/main.ts', 'monitoring may import'],
  ['monitoring/agent', 'better-sqlite3', 'monitoring may import'],
  ['monitoring/assertions', '../../api/contract/assertion.ts', ''],
  ['monitoring/assertions', 're2js', ''],
  ['monitoring/assertions', './regexBudget.ts', ''],
  ['monitoring/assertions', '../check/outcome/reason.ts', 'monitoring/assertions is pure'],
  ['monitoring/assertions', 'node:net', 'monitoring/assertions is pure'],
  ['provider/protocol', '@grpc/grpc-js', ''],
  ['provider/protocol', 'node:crypto', ''],
  ['provider/protocol', '../../api/contract/duration.ts', 'provider/protocol imports'],
  ['provider/protocol', '../service/session.ts', 'provider/protocol imports'],
  ['provider/protocol', '../incident/schema.ts', 'provider/protocol imports'],
  ['provider/protocol/rpc', '../authoring/schema.ts', ''],
  ['provider/protocol/values', '../../../api/contract/duration.ts', 'provider/protocol imports'],
  ['provider/service', '../protocol/authoring/schema.ts', ''],
  ['provider/service', '../../api/client/client.ts', ''],
  ['provider/service', '../../server/main.ts', 'provider may import'],
  ['provider/service', '../../reconciler/main.ts', 'provider may import'],
  ['reconciler/plan', '../../api/contract/duration.ts', ''],
  ['reconciler/plan', './digest.ts', ''],
  ['reconciler/plan', 'node:crypto', 'reconciler/plan is pure'],
  ['reconciler/plan', '../../api/client/client.ts', 'reconciler/plan is pure'],
  ['reconciler/plan', '../state/model/store.ts', 'reconciler/plan is pure'],
  ['reconciler/state', '../../api/client/client.ts', ''],
  ['reconciler/state', '../../server/main.ts', 'reconciler may import'],
  ['reconciler', '../provider/main.ts', 'reconciler may import'],
  ['reconciler/source', '../../monitoring/check/outcome/reason.ts', 'reconciler may import'],
  ['reconciler/cli', '../../monitoring/check/outcome/reason.ts', ''],
  ['reconciler/cli/commands', '../../../monitoring/assertions/explain.ts', ''],
  ['reconciler/cli', '../../monitoring/agent/runner.ts', 'reconciler/cli may import'],
  ['reconciler/cli', '../../server/main.ts', 'reconciler/cli may import'],
  ['provider/service', '../../monitoring/check/outcome/reason.ts', 'provider may import'],
  ['reconciler/dashboard', '../../web/html.ts', ''],
  ['server/statusPages', '../../web/html.ts', ''],
  ['server/statusPages', '../../reconciler/main.ts', 'server never imports'],
  ['server/console', '../../web/html.ts', ''],
  ['server/console', '../../api/client/client.ts', 'server never imports'],
  ['server/domain/accounts', '../../http/app.ts', 'server/domain may import'],
  ['web', './html.ts', ''],
  ['web', '../server/main.ts', 'web may import only'],
  ['web', 'fastify', 'web may import only'],
] as const

test('the linter refuses every import that the architecture forbids, and no other', async () => {
  const folder = testFolder()
  const config = JSON.parse(readFileSync('biome.json', 'utf8'))
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }))
  for (const [index, [place, source]] of imports.entries()) {
    const file = join(folder, place, `file${index}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `import { a } from '${source}'\n\nexport const b = a\n`)
  }

  const biome = join(process.cwd(), 'node_modules/@biomejs/biome/bin/biome')
  const { stdout } = await run(
    process.execPath,
    [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.'],
    {
      cwd: folder,
    },
  ).catch((error: { stdout: string }) => error)

  const messages = new Map<string, string>()
  for (const { category, message, location } of JSON.parse(stdout).diagnostics) {
    if (category === 'lint/style/noRestrictedImports') messages.set(location.path, message)
  }
  const found = imports.map(([place, source, message], index) => {
    const refusal = messages.get(`${place}/file${index}.ts`) ?? ''
    return [place, source, message === '' ? refusal : refusal.slice(0, message.length)]
  })
  expect(found).toEqual(imports.map((row) => [...row]))
})
