import { type ProgramCall, type ProgramOutput, runBeside } from '../../manifest/values/programRun.ts'
import {
  type ProgramPermissions,
  type SecretPrograms,
  secretPrograms,
} from '../../manifest/values/secretPrograms.ts'

/** Most programs at a time. */
const AT_A_TIME = 4

/** Programs that print secrets, run beside everything else the controller does. */
export interface ProgramSecrets {
  /**
   * What `compile` gives with the output of every program that it asks for: it is called again until it asks for
   * none that has not run.
   */
  readonly compiled: <Compiled>(compile: (programs: SecretPrograms) => Promise<Compiled>) => Promise<Compiled>
  /** Whether what was compiled last should be compiled anew: a program failed, or the time is up. */
  readonly isDue: () => boolean
}

/** How programs are run for one set. */
export interface ProgramSecretsOptions {
  readonly permissions: ProgramPermissions
  readonly env: Readonly<Record<string, string | undefined>>
  /** How long what a program printed counts (milliseconds). */
  readonly refreshMs: number
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

const NOT_YET: ProgramOutput = { failure: 'waits for a program', hint: 'it is still running' }

/** Runs programs as `options` allow. */
export function programSecrets({
  permissions,
  env,
  refreshMs,
  nowMs,
}: ProgramSecretsOptions): ProgramSecrets {
  let last: { readonly atMs: number; readonly failed: boolean } | null = null
  return {
    compiled: async (compile) => {
      const outputs = new Map<string, ProgramOutput>()
      for (;;) {
        const wanted = new Map<string, ProgramCall>()
        const run = (call: ProgramCall): ProgramOutput => {
          const question = questionOf(call)
          const known = outputs.get(question)
          if (known === undefined) wanted.set(question, call)
          return known ?? NOT_YET
        }
        const compiled = await compile(secretPrograms(permissions, env, run))
        if (wanted.size === 0) {
          const failed = [...outputs.values()].some((output) => 'failure' in output)
          last = outputs.size === 0 ? null : { atMs: nowMs(), failed }
          return compiled
        }
        for (const [question, output] of await allOf(wanted)) outputs.set(question, output)
      }
    },
    isDue: () => last !== null && (last.failed || nowMs() - last.atMs >= refreshMs),
  }
}

function questionOf({ program, args, input }: ProgramCall): string {
  return JSON.stringify([program, args, input.toString('base64')])
}

async function allOf(
  wanted: ReadonlyMap<string, ProgramCall>,
): Promise<readonly (readonly [string, ProgramOutput])[]> {
  const queue = [...wanted]
  const done: (readonly [string, ProgramOutput])[] = []
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [question, call] = next
      done.push([question, await runBeside(call)])
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return done
}
