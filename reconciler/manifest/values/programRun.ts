import { spawn, spawnSync } from 'node:child_process'

/** Most that a program for secrets may print (bytes). */
const OUTPUT_BYTES_MAX = 1024 * 1024

/** What a program printed, or why there is nothing: never with any of its words, which may hold the secret. */
export type ProgramOutput = { readonly bytes: Buffer } | { readonly failure: string; readonly hint: string }

/** A program for secrets, and what it is given: no shell, no folder of anybody's, and no more variables than these. */
export interface ProgramCall {
  readonly program: string
  readonly args: readonly string[]
  readonly input: Buffer
  readonly env: Readonly<Record<string, string>>
  /** Longest that it may take (milliseconds). */
  readonly programMsMax: number
}

/** How a program ended. `code` is of what kept it from running, or from ending. */
interface Ended {
  readonly code: string | undefined
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: Buffer
}

/** Runs a program, and nothing else until it has ended. */
export function runNow({ program, args, input, env, programMsMax }: ProgramCall): ProgramOutput {
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
  return outputOf({ code: codeOf(error), status, signal, stdout }, program, programMsMax)
}

/** Runs a program beside everything else. Never rejects. */
export function runBeside({ program, args, input, env, programMsMax }: ProgramCall): Promise<ProgramOutput> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: '/', env, shell: false, stdio: ['pipe', 'pipe', 'ignore'] })
    const chunks: Buffer[] = []
    let bytes = 0
    let code: string | undefined
    const stop = (reason: string): void => {
      code = reason
      child.kill('SIGKILL')
      // Whatever it started may hold the output open.
      child.stdout.destroy()
    }
    const timer = setTimeout(() => stop('ETIMEDOUT'), programMsMax)
    const end = (status: number | null, signal: string | null): void => {
      clearTimeout(timer)
      const stdout = Buffer.concat(chunks)
      resolve(outputOf({ code, status, signal, stdout }, program, programMsMax))
    }
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > OUTPUT_BYTES_MAX) stop('ENOBUFS')
      else chunks.push(chunk)
    })
    child.on('error', (error) => {
      code ??= codeOf(error) ?? 'unknown'
      if (child.pid === undefined) end(null, null)
    })
    child.on('close', end)
    // A program that reads nothing of its input is none the worse for it.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

function codeOf(error: Error | undefined): string | undefined {
  return error !== undefined && 'code' in error ? String(error.code) : undefined
}

/** What came of a program, in words that hold nothing that it printed. Pure. */
function outputOf(
  { code, status, signal, stdout }: Ended,
  program: string,
  programMsMax: number,
): ProgramOutput {
  const hint = `run ${program} by hand to see why`
  switch (code) {
    case 'ENOENT':
      return {
        failure: `needs ${program}, which is not there`,
        hint: `install ${program}, or correct the PATH`,
      }
    case 'EACCES':
      return { failure: `needs ${program}, which may not be run`, hint: 'make it executable' }
    case 'ETIMEDOUT':
      return { failure: `waited ${programMsMax / 1_000} s for ${program} in vain`, hint }
    case 'ENOBUFS':
      return { failure: `has ${program}, which prints more than ${OUTPUT_BYTES_MAX} bytes`, hint }
    case undefined:
    case 'EPIPE':
      break
    default:
      return { failure: `could not run ${program} (${code})`, hint }
  }
  if (status === 0) return { bytes: stdout }
  const how = status === null ? `was ended by ${String(signal)}` : `exited with ${status}`
  return { failure: `runs ${program}, which ${how}`, hint }
}
