/**
 * For each message reads one address of the API repeatedly, and replies with the 99th percentile (milliseconds).
 * Arguments: address, API key, requests.
 */
import { apiClient } from '../../server/testing/apiClient.ts'

const [address = '', apiKey = '', requests] = process.argv.slice(2)
const { origin, pathname } = new URL(address)
const api = apiClient(origin, apiKey)
process.on('message', async () => {
  const times: number[] = []
  for (let index = 0; index < Number(requests); index += 1) {
    const startedMs = performance.now()
    await api.get(pathname)
    times.push(performance.now() - startedMs)
  }
  times.sort((one, other) => one - other)
  process.send?.(times[Math.floor(times.length * 0.99)])
})
