/** The value of `json`; undefined when it is invalid, such as the page of a proxy. Pure. */
export function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
