import { type ProgramCall, type ProgramOutput, runNow } from './programRun.ts'

/** Longest that a program for secrets may take (milliseconds). */
const PROGRAM_MS_MAX = 10_000

/** Runs programs for secrets, each once for the same question. */
export interface SecretPrograms {
  /** Runs `command`, a program and its arguments, if the operator allowed that program. */
  readonly exec: (command: readonly string[]) => ProgramOutput
  /** Decrypts `bytes` with sops, if the operator allowed that; prints JSON. */
  readonly sops: (bytes: Buffer, type: 'json' | 'yaml') => ProgramOutput
}

/** What whoever runs the program allows. Nothing in a repository can. */
export interface ProgramPermissions {
  /** Programs as manifests have to name them. */
  readonly exec: readonly string[]
  readonly sops: boolean
  /** Names of variables that programs see besides the usual ones. */
  readonly variables: readonly string[]
  /** In words, how to allow more. */
  readonly hints: { readonly exec: string; readonly sops: string }
}

const NOT_EMPTY = 'encrypt it with sops'

/** What every program needs to find itself and its settings. */
const VARIABLES = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR']
/** Where sops looks for keys. */
const SOPS_VARIABLES = /^(?:SOPS_|AWS_|AZURE_|GOOGLE_|VAULT_|GNUPGHOME$|GPG_TTY$|XDG_CONFIG_HOME$)/

/**
 * Programs under `permissions`, with no more of `env` than they need; never what belongs to Pharos. `run` carries
 * out what is allowed.
 */
export function secretPrograms(
  permissions: ProgramPermissions,
  env: Readonly<Record<string, string | undefined>>,
  run: (call: ProgramCall) => ProgramOutput = runNow,
  programMsMax = PROGRAM_MS_MAX,
): SecretPrograms {
  const known = new Map<string, ProgramOutput>()
  const once = (question: string, run: () => ProgramOutput): ProgramOutput => {
    const output = known.get(question) ?? run()
    known.set(question, output)
    return output
  }
  const visible = (isVisible: (name: string) => boolean): Record<string, string> =>
    Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) =>
        value !== undefined && isVisible(name) && !name.startsWith('PHAROS_') ? [[name, value]] : [],
      ),
    )
  const isCommon = (name: string): boolean => VARIABLES.includes(name) || permissions.variables.includes(name)
  return {
    exec: (command) => {
      const [program = ''] = command
      if (!permissions.exec.includes(program)) {
        return { failure: 'runs a program that is not allowed here', hint: permissions.hints.exec }
      }
      const call = { program, args: command.slice(1), input: Buffer.of() }
      return once(JSON.stringify(command), () => run({ ...call, env: visible(isCommon), programMsMax }))
    },
    sops: (bytes, type) => {
      if (!permissions.sops) {
        return { failure: 'needs sops, which is not allowed here', hint: permissions.hints.sops }
      }
      if (bytes.length === 0) return { failure: 'has nothing to decrypt: the file is empty', hint: NOT_EMPTY }
      const args = ['--decrypt', '--input-type', type, '--output-type', 'json', '/dev/stdin']
      return once(`${type} ${bytes.toString('base64')}`, () =>
        run({
          program: 'sops',
          args,
          input: bytes,
          env: visible((name) => isCommon(name) || SOPS_VARIABLES.test(name)),
          programMsMax,
        }),
      )
    },
  }
}
