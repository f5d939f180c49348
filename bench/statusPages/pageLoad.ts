/** Asks for one page without a pause, until it is ended. Arguments: port, connections, request text. */
import { runLoad } from '../server/load.ts'

const [port, connections, text = ''] = process.argv.slice(2)
for (;;) {
  await runLoad({
    port: Number(port),
    connections: Number(connections),
    requests: 3_000,
    request: () => text,
  })
  process.send?.('reading')
}
