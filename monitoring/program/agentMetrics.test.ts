import { expect, test } from 'vitest'
import { serveMetrics } from './agentMetrics.ts'

test('a metrics port in use is named, with what to do', async () => {
  const figures = (): never => {
    throw new Error('nothing is scraped')
  }
  const taken = await serveMetrics(0, figures)
  const { port } = new URL(taken.url)

  await expect(serveMetrics(Number(port), figures)).rejects.toThrow(
    `port ${port} is taken by another program: use another --metrics-port`,
  )

  await taken.close()
})
