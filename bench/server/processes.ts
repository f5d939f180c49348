import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A measured process and its messages. */
export interface Subject {
  readonly child: ChildProcess
  readonly port: number
  readonly apiKey: string
  /** Sends a message and resolves to the reply. */
  readonly ask: (message: string | object) => Promise<unknown>
  readonly stop: () => Promise<void>
}

/**
 * Bundles `entry` like the program and returns the file, because a loader that compiles at run time adds its own code
 * to every function.
 */
export async function bundle(entry: URL): Promise<string> {
  const source = fileURLToPath(entry)
  const file = fileURLToPath(new URL(`../../dist/bench-${basename(source, '.ts')}.mjs`, import.meta.url))
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['better-sqlite3'],
    banner: {
      js: "import { createRequire as benchRequire } from 'node:module'; const require = benchRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  return file
}

/** Starts `subject.ts` as `kind`, with additional arguments for Node. */
export async function startSubject(
  kind: 'pharos' | 'monitored' | 'bare',
  nodeArgs: readonly string[] = [],
): Promise<Subject> {
  const child = fork(await bundle(new URL('./subject.ts', import.meta.url)), [kind], {
    execArgv: ['--expose-gc', ...nodeArgs],
  })
  const [hello]: unknown[] = await once(child, 'message')
  const ready = typeof hello === 'object' && hello !== null ? { ...hello } : {}
  return {
    child,
    port: 'port' in ready ? Number(ready.port) : 0,
    apiKey: 'apiKey' in ready ? String(ready.apiKey) : '',
    ask: async (message) => {
      const reply = once(child, 'message')
      child.send(message)
      const [value]: unknown[] = await reply
      return value
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.send('stop')
      await exited
    },
  }
}
