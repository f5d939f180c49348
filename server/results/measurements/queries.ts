import { readCertificates } from './readCertificates.ts'
import { readDays } from './readDays.ts'
import { readLatency } from './readLatency.ts'
import { readResults } from './readResults.ts'
import { readOverview, readStates } from './readStates.ts'
import { readTimeline } from './readTimeline.ts'
import type { Query, Sources } from './sources.ts'

const QUERIES = {
  states: readStates,
  overview: readOverview,
  days: readDays,
  latency: readLatency,
  results: readResults,
  timeline: readTimeline,
  certificates: readCertificates,
}

type Queries = typeof QUERIES
/** The name of a query. */
export type QueryName = keyof Queries
/** The input of a query. */
export type QueryInput<Name extends QueryName> = Parameters<Queries[Name]>[1]
/** The output of a query. */
export type QueryOutput<Name extends QueryName> =
  ReturnType<Queries[Name]> extends Query<infer Output> ? Output : never

/** Runs a query by name, in one process or on the other side of a thread. Rejects with its error. */
export type RunQuery = <Name extends QueryName>(
  name: Name,
  input: QueryInput<Name>,
) => Promise<QueryOutput<Name>>

/** A query, which runs as it is iterated. */
export function startQuery<Name extends QueryName>(
  sources: Sources,
  name: Name,
  input: QueryInput<Name>,
): Query<QueryOutput<Name>> {
  // True because each query takes its own input and gives its own output.
  const query = QUERIES[name] as (sources: Sources, input: QueryInput<Name>) => Query<QueryOutput<Name>>
  return query(sources, input)
}
