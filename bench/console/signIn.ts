/**
 * Tests whether the duration of a sign-in reveals that an account exists: wrong passwords for a known and an unknown
 * address in turns, compared by the Mann-Whitney rank-sum test. Then measures the API beside ten concurrent sign-ins.
 *
 * Run with `node --import tsx bench/console/signIn.ts`.
 */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { startConsoleServer } from '../../server/console/testing/startConsoleServer.ts'
import { hashPassword, PASSWORD_COST } from '../../server/domain/accounts/passwordHash.ts'
import { hashToken, newToken } from '../../server/domain/accounts/sessions.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { report } from './report.ts'

const ATTEMPTS = 100
const HOUR_MS = 3_600_000
/** Two-sided limit for a probability of 1 in 100 that equal distributions differ as much. */
const Z_MAX = 2.576
const API_REQUESTS = 2_000
const AT_ONCE = 10
const API_P99_MS_MAX = 20
const MEMORY_MIB_MAX = 64

/** Memory outside the JavaScript heap, which the load itself fills. */
function nativeBytes(): number {
  const { rss, heapTotal } = process.memoryUsage()
  return rss - heapTotal
}

/** Distance of the rank sum of `one` from its expected value for equal distributions, in standard deviations. Pure. */
function rankSumZ(one: readonly number[], other: readonly number[]): number {
  const ranked = [...one.map((ms) => ({ ms, isOne: true })), ...other.map((ms) => ({ ms, isOne: false }))]
    .sort((a, b) => a.ms - b.ms)
    .map(({ isOne }, index) => (isOne ? index + 1 : 0))
  const sum = ranked.reduce((total, rank) => total + rank, 0)
  const all = one.length + other.length
  const mean = (one.length * (all + 1)) / 2
  return (sum - mean) / Math.sqrt((one.length * other.length * (all + 1)) / 12)
}

let passedMs = 0
const server = await startConsoleServer({
  monotonicMs: () => performance.now() + passedMs,
  console: { passwordCost: PASSWORD_COST },
})
const tokenHash = hashToken(newToken(randomBytes))
const person = { kind: 'new', personId: crypto.randomUUID(), name: 'Known' } as const
const passwordHash = await hashPassword('correct horse battery', randomBytes, PASSWORD_COST)
const invitation = { tokenHash, orgId: server.orgId, email: 'known@example.org', role: 'owner' } as const
const nowMs = Date.now()
await server.store.invite({ ...invitation, expiresAtMs: nowMs + HOUR_MS }, { kind: 'cli' }, nowMs)
await server.store.acceptInvitation(tokenHash, { ...person, passwordHash }, nowMs)

const times: Record<'known' | 'other', number[]> = { known: [], other: [] }
const visitor = server.visitor()
const attempt = async (name: 'known' | 'other', password: string): Promise<number> => {
  // So that no limit on attempts is reached.
  passedMs += HOUR_MS
  const startedMs = performance.now()
  const { status } = await visitor.post('/api/sessions', { email: `${name}@example.org`, password })
  if (status !== 422) throw new Error(`a wrong password got ${status}`)
  return performance.now() - startedMs
}
for (let index = -5; index < ATTEMPTS; index += 1) {
  // Alternates which one is first.
  for (const name of index % 2 === 0 ? (['known', 'other'] as const) : (['other', 'known'] as const)) {
    const ms = await attempt(name, 'not the password')
    if (index >= 0) times[name].push(ms)
  }
}
const z = rankSumZ(times.known, times.other)
const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0
report(
  Math.abs(z) < Z_MAX,
  `${ATTEMPTS} sign-ins with a known address ${median(times.known).toFixed(1)} ms, with an unknown one ` +
    `${median(times.other).toFixed(1)} ms: rank sums ${z.toFixed(2)} standard deviations apart (limit < ${Z_MAX})`,
)

const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
const apiReader = fork(new URL('../server/apiTimes.ts', import.meta.url), [
  `${server.url}/v1/services/${Object(json).id}`,
  server.apiKey,
  String(API_REQUESTS),
])
const apiMs = async (): Promise<number> => {
  apiReader.send('now')
  const [p99Ms] = await once(apiReader, 'message')
  return p99Ms
}
await apiMs()
const nativeBefore = nativeBytes()
let nativeMost = nativeBefore
let isOver = false
const signingIn = Array.from({ length: AT_ONCE }, async () => {
  while (!isOver) {
    passedMs += HOUR_MS
    await server.visitor().post('/api/sessions', { email: 'other@example.org', password: 'not the password' })
  }
})
const sampling = setInterval(() => {
  nativeMost = Math.max(nativeMost, nativeBytes())
}, 5)
const underLoadMs = await apiMs()
isOver = true
clearInterval(sampling)
await Promise.all(signingIn)
const mib = (nativeMost - nativeBefore) / 1_048_576
report(
  underLoadMs <= API_P99_MS_MAX,
  `API beside ${AT_ONCE} sign-ins at once: 99th percentile ${underLoadMs.toFixed(2)} ms (limit ≤ ${API_P99_MS_MAX})`,
)
report(mib <= MEMORY_MIB_MAX, `memory for them: ${mib.toFixed(0)} MiB (limit ≤ ${MEMORY_MIB_MAX})`)
apiReader.kill()
await server.close()
