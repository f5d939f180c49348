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
