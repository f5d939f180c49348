import { spawnSync } from 'node:child_process'

/** Longest that a program for secrets may take (milliseconds). */
const PROGRAM_MS_MAX = 10_000
/** Most that one may print (bytes). */
const OUTPUT_BYTES_MAX = 1024 * 1024

/** What a program printed, or why there is nothing: never with any of its words, which may hold the secret. */
export type ProgramOutput = { readonly bytes: Buffer } | { readonly failure: string; readonly hint: string }

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
}

/** What every program needs to find itself and its settings. */
const VARIABLES = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR']
/** Where sops looks for keys. */
const SOPS_VARIABLES = /^(?:SOPS_|AWS_|AZURE_|GOOGLE_|VAULT_|GNUPGHOME$|GPG_TTY$|XDG_CONFIG_HOME$)/

/** Programs under `permissions`, with no more of `env` than they need; never what belongs to Pharos. */
export function secretPrograms(
  permissions: ProgramPermissions,
  env: Readonly<Record<string, string | undefined>>,
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
        const hint = 'whoever runs pharos can allow it with --allow-exec PROGRAM'
        return { failure: 'runs a program that is not allowed here', hint }
      }
      return once(JSON.stringify(command), () =>
        run(program, command.slice(1), { input: Buffer.of(), env: visible(isCommon), programMsMax }),
      )
    },
    sops: (bytes, type) => {
      if (!permissions.sops) {
        const hint = 'whoever runs pharos can allow it with --allow-sops'
        return { failure: 'needs sops, which is not allowed here', hint }
      }
      const args = ['--decrypt', '--input-type', type, '--output-type', 'json', '/dev/stdin']
      return once(`${type} ${bytes.toString('base64')}`, () =>
        run('sops', args, {
          input: bytes,
          env: visible((name) => isCommon(name) || SOPS_VARIABLES.test(name)),
          programMsMax,
        }),
      )
    },
  }
}

/** Runs a program without a shell, in no folder of anybody's, and listens to its output alone. */
function run(
  program: string,
  args: readonly string[],
  {
    input,
    env,
    programMsMax,
  }: {
    readonly input: Buffer
    readonly env: Readonly<Record<string, string>>
    readonly programMsMax: number
  },
): ProgramOutput {
  const { error, status, signal, stdout } = spawnSync(program, args, {
    cwd: '/',
    env,
    input,
    shell: false,
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: programMsMax,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  const code = error !== undefined && 'code' in error ? error.code : undefined
  const hint = `run ${program} by hand to see why`
  if (code === 'ENOENT')
    return {
      failure: `needs ${program}, which is not there`,
      hint: `install ${program}, or correct the PATH`,
    }
  if (code === 'EACCES')
    return { failure: `needs ${program}, which may not be run`, hint: 'make it executable' }
  if (code === 'ETIMEDOUT')
    return { failure: `waited ${programMsMax / 1_000} s for ${program} in vain`, hint }
  if (code === 'ENOBUFS')
    return { failure: `has ${program}, which prints more than ${OUTPUT_BYTES_MAX} bytes`, hint }
  // A program that reads nothing of its input is none the worse for it.
  if (error !== undefined && code !== 'EPIPE')
    return { failure: `could not run ${program} (${String(code)})`, hint }
  if (status === 0) return { bytes: stdout }
  const how = status === null ? `was ended by ${String(signal)}` : `exited with ${status}`
  return { failure: `runs ${program}, which ${how}`, hint }
}
