import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serveMetrics } from './agentMetrics.ts'

test('a metrics port in use is named, with what to do', async () => {
  const stats = (): never => {
    throw new Error('nothing is scraped')
  }
  const taken = await serveMetrics(0, stats)
  const { port } = new URL(taken.url)

  await expect(serveMetrics(Number(port), stats)).rejects.toThrow(
    `port ${port} is taken by another program: use another --metrics-port`,
  )

  await taken.close()
})

test('silent connections to the metrics port take at most 24 file descriptors, and keep no scraper out', async () => {
  const metrics = await serveMetrics(0, () => ({
    ...{ in_flight: 0, lag_p99_ms: 0, skipped: 0, suspect: false, spooled: 0, dropped: 0, clock_ahead_ms: 0 },
    ...{ isConnected: true, refused: 0 },
  }))
  const { hostname, port } = new URL(metrics.url)
  const silent = Array.from({ length: 24 }, () => connect({ host: hostname, port: Number(port) }))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))

  const { status } = await fetch(metrics.url)

  expect(status).toBe(200)
  await expect.poll(() => silent.filter(({ closed }) => closed)).toEqual([silent[0]])
  for (const socket of silent) socket.destroy()
  await metrics.close()
})
