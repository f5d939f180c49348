import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

/** Number of requests that one key may send at once. */
const BURST = 20

/**
 * Traces the system calls of a server that executes `creates` creates in `folder`, several at a time. Throws when an
 * response is sent before the log with its commit was flushed. A kill cannot show that, because written data outlives
 * the process. Needs `strace`.
 */
export async function watchFlushes(folder: string, creates: number): Promise<void> {
  const dataDir = join(folder, 'data')
  const trace = join(folder, 'trace')
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, Math.ceil(creates / BURST))
  const server = await startProcess(dataDir)
  try {
    const stop = await attach(server.child.pid ?? 0, trace)
    for (const key of keys) {
      const api = apiClient(server.url, key)
      const sent = Array.from({ length: BURST }, () => api.post('/v1/services', serviceBody()))
      for (const { status } of await Promise.all(sent)) {
        if (status !== 201) throw new Error(`a create got ${status}`)
      }
    }
    await stop()
  } finally {
    await server.stop()
  }
  const responses = responsesAfterFlush(await readFile(trace, 'utf8'))
  if (responses < creates) throw new Error(`the trace has ${responses} of ${creates} responses`)
}

async function attach(pid: number, trace: string): Promise<() => Promise<void>> {
  const calls = 'trace=pwrite64,fdatasync,fsync,write,writev'
  const child = spawn('strace', ['-f', '-y', '-e', calls, '-o', trace, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  // Rejects when there is no strace.
  await once(child, 'spawn')
  await once(child.stderr, 'data')
  return async () => {
    child.kill('SIGINT')
    await ended
  }
}

/** Counts the responses in a trace. Throws at the first one sent while the log has unflushed writes. Pure. */
export function responsesAfterFlush(trace: string): number {
  let unflushed: string | undefined
  let responses = 0
  for (const line of trace.split('\n')) {
    if (/ pwrite64\(\d+<[^>]*-wal>/.test(line)) unflushed = line
    // A later line has the result of a call that another thread interrupted.
    else if (/ (?:fdatasync|fsync)\(\d+<[^>]*-wal>\)? *=|<\.\.\. f(?:data)?sync resumed>.*= 0/.test(line))
      unflushed = undefined
    else if (/ writev?\(.*"HTTP\/1\.1 20[01] /.test(line)) {
      if (unflushed !== undefined) throw new Error(`responded before a flush:\n${unflushed}\n${line}`)
      responses += 1
    }
  }
  return responses
}
