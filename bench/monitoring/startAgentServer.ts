import { fork } from 'node:child_process'
import { once } from 'node:events'
import { httpsLink } from '../../monitoring/agent/httpsLink.ts'
import { bundle } from '../server/processes.ts'
import type { ServerReply, ServerOrder } from './agentServerOrder.ts'

/** A server with a listener for agents, in a separate process. */
export interface AgentServer {
  readonly agentUrl: string
  readonly ask: (order: ServerOrder) => Promise<Required<ServerReply>>
  readonly link: (token: string) => ReturnType<typeof httpsLink>
  readonly stop: () => Promise<void>
}

/** Starts the server of agentServer.ts. */
export async function startAgentServer(): Promise<AgentServer> {
  const child = fork(await bundle(new URL('./agentServer.ts', import.meta.url)))
  const ask: AgentServer['ask'] = async (order) => {
    const reply = once(child, 'message')
    child.send(order)
    // True because each order has a reply with its own fields.
    return (await reply)[0] as Required<ServerReply>
  }
  const { agentUrl } = await ask({ kind: 'start' })
  return {
    ask,
    agentUrl,
    link: (token) => httpsLink({ server: new URL(agentUrl), token }),
    stop: async () => {
      const ended = once(child, 'exit')
      child.send({ kind: 'stop' } satisfies ServerOrder)
      await ended
    },
  }
}
