/** Requests one page without pauses until it is killed. Arguments: port, connections, request text. */
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
