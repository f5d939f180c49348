/** The thread of a BlockingClient: executes statements on one connection. */
import { type MessagePort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { codeOf } from '../../../../api/runtime/errorCode.ts'
import { statementName } from '../connections/sql.ts'
import { connect } from '../schema/migrate.ts'
import type { ClientSettings, FromClient, SqlResult, SqlStatement, ToClient } from './clientMessages.ts'

/** Longest execution of a statement (milliseconds). */
const STATEMENT_MS_MAX = 10_000

// True because this file is started as a thread, with these settings.
const { url, applicationName, signal, port } = workerData as ClientSettings & { readonly port: MessagePort }

let client: pg.Client | undefined

async function connected(): Promise<pg.Client> {
  if (client !== undefined) return client
  const made = await connect(url, applicationName)
  await made.query(
    `SET statement_timeout = ${STATEMENT_MS_MAX}; SET idle_in_transaction_session_timeout = 30000`,
  )
  client = made
  return made
}

async function execute({ text, values }: SqlStatement): Promise<SqlResult> {
  const connection = await connected()
  if (values === undefined) {
    await connection.query(text)
    return { rows: [], changes: 0 }
  }
  const given = values.map((value) => (ArrayBuffer.isView(value) ? Buffer.from(value as Uint8Array) : value))
  const { rows, rowCount } = await connection.query({ name: statementName(text), text, values: given })
  return { rows, changes: rowCount ?? 0 }
}

function reply(message: FromClient): void {
  port.postMessage(message)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
}

port.on('message', async (message: ToClient) => {
  if (message === 'end') {
    await client?.end().catch(() => {})
    reply({ results: [] })
    port.close()
    return
  }
  try {
    const results: SqlResult[] = []
    for (const statement of message.statements) results.push(await execute(statement))
    reply({ results })
  } catch (error) {
    const code = codeOf(error)
    // PostgreSQL's codes have five characters; 57P01 and its like end the connection.
    const isOfStatement = /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P)/.test(code)
    reply({
      message: error instanceof Error ? error.message : String(error),
      code: isOfStatement ? code : null,
    })
  }
})
