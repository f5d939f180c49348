/**
 * SQL for the definition in `column` as JSON. Definitions of release 0.1 may contain U+0000 and lone surrogates, which
 * PostgreSQL refuses to read in JSON: they read as U+FFFD. SQLite reads the column as it is. Pure.
 */
export function definitionJson(column: string): string {
  // Other characters that JSON.stringify escapes with \u are rare: most definitions are not searched twice.
  return `(CASE WHEN strpos(${column}, '\\u') = 0 THEN ${column}
    ELSE regexp_replace(${column}, '\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\\\ufffd', 'g') END)::json`
}

/** Finds what `definitionJson` made; the first group is its column. */
export const DEFINITION_JSON = /\(CASE WHEN strpos\(([\w.]+), '\\u'\) = 0 THEN .*? END\)::json/gs
