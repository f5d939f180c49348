import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { startTarget } from '../../testing/target.ts'
import { SESSION_COOKIE } from '../routing/cookies.ts'
import { startConsoleServer, type TestPerson } from '../testing/startConsoleServer.ts'

/** Maximum wait for what real checks cause (milliseconds). */
const MS_MAX = 60_000

test(
  'an open stream ends for a member with a lowered role, a removed member and after sign-out, before it sends a change',
  async () => {
    const target = await startTarget()
    onTestFinished(() => target.close())
    const server = await startConsoleServer({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'] })
    onTestFinished(() => server.close())
    await server.overrideLimits({ intervalSecsMin: 1 })
    const { orgId, store } = server
    /** The text of a stream of events so far, and whether it has ended. */
    const opened = async ({ client, root }: TestPerson) => {
      const headers = { cookie: `${SESSION_COOKIE}=${client.cookie(SESSION_COOKIE)}` }
      const { body } = await fetch(`${server.consoleUrl}${root}/live`, { headers })
      const seen = { text: '', isOver: false }
      const read = async (): Promise<void> => {
        for await (const chunk of body ?? []) seen.text += Buffer.from(chunk).toString()
        seen.isOver = true
      }
      // A closed server ends it too.
      read().catch(() => {})
      return seen
    }
    const [lowered, removed, left] = [
      await server.signIn('owner'),
      await server.signIn('member'),
      await server.signIn('viewer'),
    ]
    const stays = await server.signIn('owner')
    const streams = [await opened(lowered), await opened(removed), await opened(left)]
    const kept = await opened(stays)
    const change = { orgId, by: { kind: 'cli' }, nowMs: Date.now() } as const
    await store.changeRole({ ...change, personId: lowered.id, role: 'viewer' })
    await store.removeMember({ ...change, personId: removed.id })
    await left.client.post('/api/sessions/end')
    const api = apiClient(server.url, server.apiKey)
    const endpoints = [endpointBody({ url: target.url('/') })]
    await api.post('/v1/services', serviceBody({ interval_secs: 1, endpoints }))

    await expect.poll(() => kept.text, { timeout: MS_MAX }).toContain('event: changed')
    await expect
      .poll(() => streams.map(({ isOver }) => isOver), { timeout: MS_MAX })
      .toEqual([true, true, true])
    expect(streams.map(({ text }) => text.includes('event'))).toEqual([false, false, false])
    expect(kept.isOver).toBe(false)
  },
  2 * MS_MAX,
)
